import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { systemCode } from '../../errors.js';
import { isThere, type Link, linkTarget } from '../paths/resolve-path.js';

/** Removes the empty files that the sandbox leaves in place of missing ones. */
export function removeStandIns(paths: readonly string[]): void {
  for (const path of paths) {
    try {
      const found = lstatSync(path);
      if (found.isDirectory() && readdirSync(path).length === 0) rmdirSync(path);
      else if (found.isFile() && found.size === 0) unlinkSync(path);
    } catch {
      // It is already gone, or in use.
    }
  }
}

/** The time of change of a file that a command has not written to: no other file is as old. */
const UNUSED = new Date(86_400_000);

/** Creates those of these files that do not exist, if their folders do. Returns the files that it created. */
export function makeMissing(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => {
    try {
      closeSync(openSync(path, 'wx'));
      utimesSync(path, UNUSED, UNUSED);
      return true;
    } catch {
      return false;
    }
  });
}

/**
 * Removes those of these files that nothing was written to, not even nothing: `> file` changes the time of an empty
 * file.
 */
export function removeUnused(paths: readonly string[]): void {
  for (const path of paths) {
    try {
      const { size, mtimeMs } = lstatSync(path);
      if (size === 0 && mtimeMs === UNUSED.getTime()) unlinkSync(path);
    } catch {
      // It is already gone.
    }
  }
}

/** The stamps of those of these paths that are not mounted. */
export function stampsOf(paths: readonly string[], mounted: readonly string[]): ReadonlyMap<string, string> {
  const left = new Set(paths);
  for (const path of mounted) left.delete(path);
  return new Map([...left].map((path) => [path, stampOf(path)]));
}

/** What is different when a command has changed anything at a path: no program can set the time of change of a file. */
export function stampOf(path: string): string {
  try {
    const found = lstatSync(path);
    const names = found.isDirectory() ? readdirSync(path) : [];
    return [`${found.ino}:${found.size}:${found.ctimeMs}`, ...names.map((name) => stampOf(join(path, name)))].join();
  } catch {
    return '';
  }
}

/** The most names that are tried: a command may have taken them all. */
const NUMBERS = 99;

/**
 * Renames the files of a command from which other programs would run something later. Returns the new paths, without
 * those that cannot be renamed.
 */
export function setAside(paths: readonly string[]): readonly string[] {
  // The deepest are renamed first, while their paths are still valid.
  return [...paths]
    .reverse()
    .map(movedAside)
    .filter((path) => path !== null)
    .reverse();
}

/**
 * Makes links again that a command has replaced, because nothing can be mounted over a link. Returns the new paths of
 * what was in their place.
 */
export function restoreLinks(links: readonly Link[]): readonly string[] {
  return links.flatMap(({ path, target }) => {
    if (linkTarget(path) === target) return [];
    const renamed = isThere(path) ? setAside([path]) : [];
    try {
      symlinkSync(target, path);
    } catch {
      // Its folder is gone, and so is what the command put there.
    }
    return renamed;
  });
}

function movedAside(path: string): string | null {
  const numbered = Array.from({ length: NUMBERS }, (_, index) => `${path}.set-aside-${index + 1}`);
  // The last resort is a short random name: with a suffix a long name may be too long, and all numbers may be taken.
  for (const aside of [...numbered, join(dirname(path), `set-aside-${randomUUID()}`)])
    if (renamed(path, aside)) return aside;
  return null;
}

/** Returns false if the new name is taken or not possible. */
function renamed(path: string, aside: string): boolean {
  try {
    if (lstatSync(aside, { throwIfNoEntry: false }) !== undefined) return false;
    renameSync(path, aside);
    return true;
  } catch (failure) {
    return systemCode(failure) === 'EACCES' && madeWritable(dirname(path)) && renamed(path, aside);
  }
}

/** Makes a folder writable again: a command may have removed the permission. */
const madeWritable = (folder: string): boolean => grantedToOwner(folder, 0o300);

/** Lets the owner of a folder list and enter it. Returns false if nothing changed. */
export const madeListable = (folder: string): boolean => grantedToOwner(folder, 0o500);

function grantedToOwner(folder: string, rights: number): boolean {
  try {
    const mode = lstatSync(folder).mode & 0o777;
    if ((mode & rights) === rights) return false;
    chmodSync(folder, mode | rights);
    return true;
  } catch {
    return false;
  }
}
