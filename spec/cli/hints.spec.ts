import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { emptyWorld } from '../../lib/cli/base/world.js';
import { makeProgram } from '../../lib/cli/program.js';
import { slashCommands } from '../../lib/slash/index.js';

const LIB = resolve(import.meta.dirname, '..', '..', 'lib');
const program = makeProgram(emptyWorld(), () => undefined);
const slashNames = new Set(slashCommands.flatMap(({ name, aliases = [] }) => [name, ...aliases]));

/** What is wrong with the words after `hi`; null if they are a command line that hi has. */
function wrongIn(words: readonly string[]): string | null {
  let command: Command = program;
  for (const word of words) {
    if (word.startsWith('-')) {
      const option = word.replace(/=.*$/, '');
      const known = [...command.options, ...program.options].flatMap(({ short, long }) => [short, long]);
      if (!known.includes(option) && option !== '--help' && option !== '--')
        return `${command.name()} has no ${option}`;
    } else if (command.commands.length > 0) {
      const found = command.commands.find((one) => one.name() === word);
      if (found === undefined) return /^[a-z][a-z-]*$/.test(word) ? `${command.name()} has no ${word}` : null;
      command = found;
    }
  }
  return null;
}

it('names only commands and options that there are', () => {
  const wrong: string[] = [];
  let hints = 0;
  for (const file of readdirSync(LIB, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const text = readFileSync(join(LIB, file), 'utf8').replace(/^ *(?:\/\/|\/?\*).*$/gm, '');
    // What is filled in at run time, and what follows the command line, does not count.
    for (const [, line = ''] of text.matchAll(/\b[Rr]un(?:: | \\?['`])hi ((?:[a-z-]+ ?)+)/g)) {
      hints += 1;
      const found = wrongIn(line.trim().split(' '));
      if (found !== null) wrong.push(`${file}: ${line.trim()}: ${found}`);
    }
    for (const [, name = ''] of text.matchAll(/(?:[Tt]ype:?|[Tt]ry|use|Use|with) (?:\\?['`])?\/([a-z]+)\b(?!\/)/g)) {
      hints += 1;
      if (!slashNames.has(name)) wrong.push(`${file}: /${name}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(hints).toBeGreaterThan(60);
});
