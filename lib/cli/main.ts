import { isAbsolute, join } from 'node:path';
import { asksForVersion, VERSION } from './base/version.js';
import type { World } from './base/world.js';
import { scripts, type Use } from './compiled/scripts.js';

/**
 * Runs the program in a world. Resolves to the exit status. Never rejects: errors are printed on stderr.
 * A closed pipe behind stdout or stderr is not an error: later output is dropped.
 * `--version` and `--help` are answered before anything is loaded.
 */
export async function main(world: World): Promise<number> {
  const [first, ...rest] = world.argv;
  if (asksForVersion(world.argv)) return print(world, `${VERSION}\n`);
  if (rest.length === 0 && (first === '--help' || first === '-h'))
    return print(world, (await import('./help-text.js')).HELP);
  const use = useOf(world);
  const folder = await compiledFolder(world.env);
  if (folder !== null) scripts.keepIn(folder, use ?? 'ask');
  const status = await (await import('./run.js')).run(world);
  // Who has interrupted a run waits for its end, and one that failed calls other functions than most.
  if (use !== null && status === 0 && scripts.toKeep.length > 0) {
    const { keepScripts } = await import('./compiled/keep-scripts.js');
    keepScripts(scripts.toKeep, world.now().getTime());
  }
  return status;
}

/** Null for a command that asks no model: it calls too few functions to be worth keeping. */
function useOf({ argv, stdinIs }: World): Use | null {
  const [command] = argv;
  if (command === 'ask') return 'ask';
  const isChat = command === undefined || command === 'chat' || command.startsWith('-');
  return !isChat ? null : stdinIs === 'terminal' ? 'chat' : 'ask';
}

/**
 * The folder for the compiled program; null for none, as in the executable, which is compiled ahead. Never throws:
 * without the folder a start is only slower.
 */
async function compiledFolder(env: Readonly<Record<string, string | undefined>>): Promise<string | null> {
  if ('bun' in process.versions) return null;
  try {
    const cache = env.HI_CACHE_DIR || (await import('env-paths')).default('hi', { suffix: '' }).cache;
    return isAbsolute(cache) ? join(cache, 'compiled') : null;
  } catch {
    return null;
  }
}

function print(world: World, text: string): number {
  world.print(text);
  return 0;
}
