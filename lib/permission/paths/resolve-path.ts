import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { systemCode } from '../../errors.js';

/** A path as it was written and as the kernel would find it. */
export interface ResolvedPath {
  /** Absolute, links and `..` not yet resolved. */
  readonly absolute: string;
  /** Where it really leads. Null when that cannot be told (a loop of links, a folder that may not be entered). */
  readonly real: string | null;
}

/** The absolute form of a path a model or a command wrote: `~` is the home folder, anything else is seen from `folder`. */
export function absolutePath(path: string, folder: string): string {
  if (path === '~' || path.startsWith('~/')) return homedir() + path.slice(1);
  return isAbsolute(path) ? path : `${folder}/${path}`;
}

/**
 * Follows a path step by step as the kernel does, so that neither `..` behind a link nor a dangling link leads astray.
 * What does not exist yet is taken as written below the nearest parent that does. Never throws.
 */
export async function locate(path: string, folder: string): Promise<ResolvedPath> {
  const absolute = absolutePath(path, folder);
  return { absolute, real: follow('/', absolute.split(sep), 40) };
}

// Every word of a command is looked at: through the thread pool each look takes a hundred times as long as here.
function follow(start: string, steps: readonly string[], links: number): string | null {
  let here = start;
  for (const [index, step] of steps.entries()) {
    if (step === '' || step === '.') continue;
    if (step === '..') {
      here = dirname(here);
      continue;
    }
    const next = join(here, step);
    try {
      here = realpathSync.native(next);
    } catch (failure) {
      if (systemCode(failure) !== 'ENOENT') return null;
      const target = linkTarget(next);
      if (target !== null) {
        if (links === 0) return null;
        const rest = steps.slice(index + 1);
        return follow(isAbsolute(target) ? '/' : here, [...target.split(sep), ...rest], links - 1);
      }
      here = next;
    }
  }
  return here;
}

function linkTarget(path: string): string | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : null;
  } catch {
    return null;
  }
}

/** True when `path` is `folder` or below it. Both must be real paths. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
