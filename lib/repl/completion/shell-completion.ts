import { accessSync, constants, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Completion } from './completion.js';
import { type PathBase, pathsThatBegin } from './path-completion.js';

/** Characters in a name that are special to a shell. */
const SPECIAL = /[\s"'\\$`&|;<>(){}[\]*?!#]/g;

/** Completes the last word of a shell command: a program if one is expected there, else a file. `before` is the line up to the cursor. */
export async function completeShell(before: string, command: string, base: PathBase): Promise<Completion> {
  const typed = command.slice(startOfLastWord(command));
  const isProgram = isBeforeProgram(command.slice(0, command.length - typed.length));
  const from = before.length - typed.length;
  const word = typed.replaceAll(/\\(.)/gs, '$1');
  if (isProgram && !word.includes('/')) return { from, candidates: await programs(word) };
  const paths = await pathsThatBegin(word, base);
  const candidates = paths.map(({ path, isFolder }) => ({ text: quoted(path) + (isFolder ? '/' : ' ') }));
  return { from, candidates };
}

function startOfLastWord(command: string): number {
  let start = 0;
  for (let at = 0; at < command.length; at += 1) {
    if (command[at] === '\\') at += 1;
    else if (/[\s|&;()<>]/.test(command[at] ?? '')) start = at + 1;
  }
  return Math.min(start, command.length);
}

/** Whether a program name comes next: its part of the command has nothing but assignments before it. */
function isBeforeProgram(text: string): boolean {
  const words =
    text
      .split(/[|&;(]/)
      .at(-1)
      ?.trim() ?? '';
  return words === '' || words.split(/\s+/).every((word) => /^\w+=/.test(word));
}

/** Does not quote a leading `~`. */
const quoted = (path: string): string => path.replace(SPECIAL, '\\$&');

async function programs(word: string): Promise<Completion['candidates']> {
  if (word === '') return [];
  const names = new Set<string>();
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const found = await readdir(folder).catch(() => []);
    for (const name of found) if (name.startsWith(word) && isProgramFile(join(folder, name))) names.add(name);
  }
  return [...names].sort().map((name) => ({ text: `${name} ` }));
}

function isProgramFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
