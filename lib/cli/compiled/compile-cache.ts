import { isAbsolute, join } from 'node:path';
import { makeFolder } from '../../folder.js';

/** What Node has from 22.8 on; the types of Node 20 do not know it. */
interface CompileCache {
  enableCompileCache(folder: string): unknown;
}

/** The folder where the compiled form of the program is kept, null where there is none; the executable is compiled ahead. Never throws: without it a start is slower. */
export async function compiledFolder(env: Readonly<Record<string, string | undefined>>): Promise<string | null> {
  if ('bun' in process.versions) return null;
  try {
    const cache = env.HI_CACHE_DIR || (await import('env-paths')).default('hi', { suffix: '' }).cache;
    return isAbsolute(cache) ? join(cache, 'compiled') : null;
  } catch {
    return null;
  }
}

/** Lets Node keep the ES modules in their compiled form, which it can from 22.8 on. Never throws. */
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
