import { readlinkSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, type PlatformPath, parse, relative, sep } from 'node:path';
import { systemCode } from '../../errors.js';

/** A path as written, and as the kernel resolves it. */
export interface ResolvedPath {
  /** The absolute path; links and `..` are not resolved. */
  readonly absolute: string;
  /** The path with links and `..` resolved. Null when it cannot be resolved (a loop of links, a folder without permission). */
  readonly real: string | null;
}

/** The absolute form of a path: `~` is the home folder, and a relative path is relative to `folder`. */
export function absolutePath(path: string, folder: string): string {
  if (path === '~' || path.startsWith('~/')) return homedir() + path.slice(1);
  return isAbsolute(path) ? path : `${folder}/${path}`;
}

/**
 * Resolves a path step by step as the kernel does, so that neither `..` after a link nor a dangling link hides where it leads.
 * What does not exist yet is appended to the nearest parent that does. Never throws.
 */
export async function locate(path: string, folder: string): Promise<ResolvedPath> {
  const absolute = absolutePath(path, folder);
  return { absolute, real: followAll(absolute) };
}

/** The path with every link resolved, or only made absolute if that fails. */
export function realPath(path: string): string {
  const absolute = absolutePath(path, process.cwd());
  return followAll(absolute) ?? absolute;
}

/** The root of an absolute path, with its drive or share on Windows, and the steps from there. */
export function stepsOf(
  absolute: string,
  system: Pick<PlatformPath, 'parse' | 'sep'> = { parse, sep },
): { readonly root: string; readonly steps: readonly string[] } {
  const { root } = system.parse(absolute);
  // Windows accepts both slashes.
  return { root: root || '/', steps: absolute.slice(root.length).split(system.sep === '/' ? '/' : /[\\/]/) };
}

function followAll(absolute: string): string | null {
  const { root, steps } = stepsOf(absolute);
  return follow(root, steps, 40);
}

/** The paths and the targets of their links: a settings folder is often a link into a dotfiles repository. */
export function withTargets(paths: readonly string[]): readonly string[] {
  return [...new Set([...paths, ...paths.map(realPath)])];
}

// Synchronous, because every word of a command is resolved: through the thread pool each call takes a hundred times as long.
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
        const { root, steps: way } = stepsOf(target);
        return follow(isAbsolute(target) ? root : here, [...way, ...rest], links - 1);
      }
      here = next;
    }
  }
  return here;
}

/** Where a symbolic link leads; null for anything else. */
function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

/** True when `path` is `folder` or below it. Both must be real paths. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
