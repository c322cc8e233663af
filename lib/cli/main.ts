import { VERSION } from './base/version.js';
import type { World } from './base/world.js';
import { useCompileCache } from './compile-cache.js';

/**
 * Runs the program in a world. Resolves to the exit status (SPEC §1). Never rejects: errors are printed on stderr.
 * A closed pipe behind stdout or stderr is not an error: later output is dropped.
 * `--version` and `--help` are answered before anything is loaded.
 */
export async function main(world: World): Promise<number> {
  const [first, ...rest] = world.argv;
  if (rest.length === 0 && (first === '--version' || first === '-v')) return print(world, `${VERSION}\n`);
  if (rest.length === 0 && (first === '--help' || first === '-h'))
    return print(world, (await import('./help-text.js')).HELP);
  await useCompileCache(world.env);
  return await (await import('./run.js')).run(world);
}

function print(world: World, text: string): number {
  world.print(text);
  return 0;
}
