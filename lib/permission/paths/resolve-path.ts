import { type BigIntStats, lstatSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, type PlatformPath, parse, relative, resolve, sep } from 'node:path';
import { systemCode } from '../../errors.js';

/** A path as written, and as the kernel resolves it. */
export interface ResolvedPath {
  /** The absolute path; links and `..` are not resolved. */
  readonly absolute: string;
  /**
   * The path with links and `..` resolved. Null when it cannot be resolved (a loop of links, a folder without
   * permission).
   */
  readonly real: string | null;
}

/** The absolute form of a path: `~` is the home folder, and a relative path is relative to `folder`. */
export function absolutePath(path: string, folder: string): string {
  if (path === '~' || path.startsWith('~/')) return homedir() + path.slice(1);
  return isAbsolute(path) ? path : `${folder}/${path}`;
}

/**
 * Resolves a path step by step as the kernel does, so that neither `..` after a link nor a dangling link hides where it
 * leads. What does not exist yet is appended to the nearest parent that does. Never throws.
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

/** As many as the kernel follows. */
const MOST_LINKS = 40;

function followAll(absolute: string): string | null {
  // No system call takes such a name, wherever it is in the path.
  if (absolute.includes('\0')) return null;
  const { root, steps } = stepsOf(absolute);
  return follow(root, steps, MOST_LINKS);
}

/** The paths and the targets of their links: a settings folder is often a link into a dotfiles repository. */
export function withTargets(paths: readonly string[]): readonly string[] {
  return [...new Set([...paths, ...paths.map(realPath)])];
}

function follow(start: string, steps: readonly string[], links: number): string | null {
  const names = steps.filter((step) => step !== '' && step !== '.');
  let here = start;
  let index = 0;
  while (index < names.length) {
    if (names[index] === '..') {
      here = dirname(here);
      index += 1;
      continue;
    }
    const { real, count, failure } = existingPart(here, names, index);
    here = real;
    index += count;
    const isMissing = systemCode(failure) === 'ENOENT';
    // All together may have too many links, and the next one alone not.
    if (count > 0 && !isMissing) continue;
    if (!isMissing) return null;
    const target = linkTarget(join(here, names[index] ?? ''));
    if (target !== null) {
      if (links === 0) return null;
      const { root, steps: way } = stepsOf(target);
      return follow(isAbsolute(target) ? root : here, [...way, ...names.slice(index + 1)], links - 1);
    }
    const missing = missingPart(names, index);
    here = join(here, missing.path);
    index = missing.end;
  }
  return here;
}

/**
 * How many of these names, up to the next `..`, lead to something, and where; `failure` is the error of the one after
 * them. Asks the system as rarely as possible, because each time it goes the whole way: first for all names, then for
 * fewer and fewer, because mostly only the last one does not exist.
 */
function existingPart(here: string, names: readonly string[], from: number) {
  const up = names.indexOf('..', from);
  const part = names.slice(from, up === -1 ? names.length : up);
  let [real, count, failure]: [string, number, unknown] = [here, 0, null];
  let tooMany = part.length + 1;
  for (let tried = part.length, less = 1; count + 1 < tooMany; less *= 2) {
    try {
      // Synchronous, because every word of a command is resolved: through the thread pool each call takes a hundred
      // times as long.
      real = realpathSync.native(join(here, part.slice(0, tried).join(sep)));
      count = tried;
    } catch (error) {
      failure = error;
      tooMany = tried;
    }
    tried = count === 0 && tooMany > less ? tooMany - less : Math.floor((count + tooMany) / 2);
  }
  return { real, count, failure };
}

/** What is left of a name that does not exist and those after it, and the position where `..` leads back out of it. */
function missingPart(names: readonly string[], from: number): { readonly path: string; readonly end: number } {
  const left: string[] = [];
  for (let index = from; index < names.length; index += 1) {
    const name = names[index] ?? '';
    if (name !== '..') left.push(name);
    else if (left.length === 1) return { path: '', end: index + 1 };
    else left.pop();
  }
  return { path: left.join(sep), end: names.length };
}

/** A symbolic link, and what it says. */
export interface Link {
  readonly path: string;
  readonly target: string;
}

/** The links that an absolute path leads through. */
export function linksOn(path: string): readonly Link[] {
  const links: Link[] = [];
  let { root: here, steps } = stepsOf(path);
  while (steps.length > 0 && links.length < MOST_LINKS) {
    const [step = '', ...rest] = steps;
    [here, steps] = [join(here, step), rest];
    const target = linkTarget(here);
    if (target === null) continue;
    links.push({ path: here, target });
    ({ root: here, steps } = stepsOf(resolve(dirname(here), target, rest.join(sep))));
  }
  return links;
}

/** Where a symbolic link leads; null for anything else. */
export function linkTarget(path: string): string | null {
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

/** Whether a path is below one of these, of which there may be thousands. */
export function isBelow(paths: ReadonlySet<string>, path: string): boolean {
  for (let here = path; ; ) {
    const above = dirname(here);
    if (above === here) return false;
    if (paths.has(above)) return true;
    here = above;
  }
}

/** What is at a path, where a link is itself; null for nothing. */
export function lstatOrNull(path: string): Stats | null {
  try {
    // An exception for each of the many places that do not exist would take longer than all else.
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

/** Whether there is anything at a path, if only a dangling link. */
export const isThere = (path: string): boolean => lstatOrNull(path) !== null;

/** A path at the time of judging. The file opened later must be the same one, not a replacement. */
export interface JudgedPlace {
  /** The path with links and `..` resolved; unchanged if it cannot be resolved. */
  readonly path: string;
  /** Identifies the file; null if there is none. */
  readonly file: string | null;
  /** Identifies its content by size and time. */
  readonly content: string | null;
}

/** Resolves a path once, for both judging and the tool. Never throws. */
export async function judgedPlace(path: string, folder: string): Promise<JudgedPlace> {
  const { real, absolute } = await locate(path, folder);
  const found = statOrNull(real ?? absolute);
  return {
    path: real ?? absolute,
    file: found === null ? null : identityOf(found),
    content: found === null ? null : `${found.size}:${found.mtimeNs}`,
  };
}

/** Identifies a file by device and inode. */
export function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

function statOrNull(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return null;
  }
}
