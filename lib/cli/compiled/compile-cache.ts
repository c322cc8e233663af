import { isAbsolute, join } from 'node:path';
import { makeFolder } from '../../folder.js';

/** Exists from Node 22.8 on, so the types of Node 20 lack it. */
interface CompileCache {
  enableCompileCache(folder: string): unknown;
}

/** The folder for the compiled program; null for none, as in the executable, which is compiled ahead. Never throws: without the folder a start is only slower. */
export async function compiledFolder(env: Readonly<Record<string, string | undefined>>): Promise<string | null> {
  if ('bun' in process.versions) return null;
  try {
    const cache = env.HI_CACHE_DIR || (await import('env-paths')).default('hi', { suffix: '' }).cache;
    return isAbsolute(cache) ? join(cache, 'compiled') : null;
  } catch {
    return null;
  }
}

/** Makes Node 22.8 and later keep ES modules in compiled form. Never throws. */
export function useCompileCache(folder: string): void {
  if (Number.parseInt(process.versions.node, 10) < 22) return;
  const node: object = process.getBuiltinModule('node:module');
  if (!canCompile(node)) return;
  try {
    makeFolder(folder, 0o700);
    node.enableCompileCache(folder);
  } catch {
    return;
  }
}

function canCompile(node: object): node is CompileCache {
  return 'enableCompileCache' in node;
}
