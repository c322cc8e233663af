import type { Command } from 'commander';
import { strategies } from '../../compaction/index.js';
import { findPaths } from '../../config/paths.js';
import { providers } from '../../providers/index.js';
import { pick } from '../../registry.js';
import { tools } from '../../tools/index.js';
import { readSettings } from '../base/settings.js';
import type { World } from '../base/world.js';
import { SCRIPTS, SHELLS } from '../completion/completion-scripts.js';
import { nextWords } from '../completion/next-words.js';
import type { OwnCommand } from '../input/own-commands.js';
import { findOwnCommands } from '../input/own-commands.js';
import { Connections } from '../wiring/connections.js';
import { findSkills } from './skills-command.js';

/** How long a server may take to list its models while the user waits after Tab. Milliseconds. */
const MODELS_TIMEOUT = 2000;

/** Prints a shell's completion script. With `words`, as those scripts call it, prints the candidates for the last word of a command line. */
export async function completionCommand(
  world: World,
  program: Command,
  shell: string,
  line: readonly string[],
): Promise<number> {
  if (shell !== 'words') {
    world.stdout.write(SCRIPTS[pick(SHELLS, shell, 'shell', 'usage').name]);
    return 0;
  }
  const names = (members: readonly { readonly name: string }[]): readonly string[] => members.map(({ name }) => name);
  const words = await nextWords(program, line, {
    models: () => orNone(() => models(world)),
    skills: () => orNone(async () => names((await findSkills(world, {})).skills)),
    commands: () => orNone(async () => names(await ownCommands(world))),
    providers: names(providers),
    strategies: strategies.map(({ name, summary }) => ({ text: name, description: summary })),
    tools: names(tools),
  });
  // A line for each word: what has more than one line, or draws on the terminal, is none.
  const plain = words.filter(({ text }) => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text));
  world.stdout.write(
    plain.map(({ text, description }) => (description === '' ? `${text}\n` : `${text}\t${description}\n`)).join(''),
  );
  return 0;
}

async function ownCommands(world: World): Promise<readonly OwnCommand[]> {
  return findOwnCommands((await findPaths(world.env, null)).commands);
}

async function models(world: World): Promise<readonly string[]> {
  const settings = await readSettings(world, {});
  if (settings.config === null) return [];
  const connections = new Connections(world, {}, settings, settings.config);
  return await connections.models(connections.target(settings.config), MODELS_TIMEOUT);
}

/** Completion stays silent about errors: the command itself reports them. */
async function orNone(find: () => Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await find();
  } catch {
    return [];
  }
}
