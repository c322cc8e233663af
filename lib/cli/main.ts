import { asksForVersion, VERSION } from './base/version.js';
import type { World } from './base/world.js';
import { compiledFolder, useCompileCache } from './compiled/compile-cache.js';
import { scripts } from './compiled/scripts.js';

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
  const folder = await compiledFolder(world.env);
  if (folder !== null) useCompileCache(folder);
  scripts.keepIn(folder);
  const status = await (await import('./run.js')).run(world);
  if (scripts.toKeep.length > 0) {
    const { keepScripts } = await import('./compiled/keep-scripts.js');
    keepScripts(scripts.toKeep, world.now().getTime());
  }
  return status;
}

function print(world: World, text: string): number {
  world.print(text);
  return 0;
}
