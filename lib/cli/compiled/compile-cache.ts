import { isAbsolute, join } from 'node:path';
import { makeFolder } from '../folder.js';

/** What Node has from 22.8 on; the types of Node 20 do not know it. */
interface CompileCache {
  enableCompileCache(folder: string): unknown;
}

/**
 * Lets Node keep the compiled form of the program's files in the cache, which saves a tenth of a start's processor time; before 22.8 Node has no such
 * thing, and the executable is compiled ahead. Never throws: without the folder a start is a little slower.
 */
export async function useCompileCache(env: Readonly<Record<string, string | undefined>>): Promise<void> {
  if (Number.parseInt(process.versions.node, 10) < 22 || 'bun' in process.versions) return;
  const node: object = process.getBuiltinModule('node:module');
  if (!canCompile(node)) return;
  try {
    const cache = env.HI_CACHE_DIR || (await import('env-paths')).default('hi', { suffix: '' }).cache;
    if (!isAbsolute(cache)) return;
    makeFolder(cache, 0o700);
    node.enableCompileCache(join(cache, 'compiled'));
  } catch {
    return;
  }
}

function canCompile(node: object): node is CompileCache {
  return 'enableCompileCache' in node;
}
