import { existsSync, lstatSync, readFileSync, type Stats } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { HiError } from '../errors.js';
import { isInside } from './paths/resolve-path.js';

/**
 * What would run outside the sandbox later, in a working folder that may be written: the arguments that close it. Throws a `HiError`
 * where it cannot be closed.
 */
export function deferredExecutionMounts(root: string): readonly string[] {
  const git = join(root, '.git');
  const husky = join(root, '.husky');
  const others = linkedRepository(git, root).flatMap((path) => [
    ...pinnedMounts(dirname(path), root),
    ...repositoryMounts(path, root),
  ]);
  return [...repositoryMounts(git, root), ...others, ...readOnlyMount(husky)];
}

/** What is mounted cannot be moved away, to put another in its place. */
function repositoryMounts(path: string, root: string): readonly string[] {
  const found = lstatUnlinked(path);
  if (found === null) return [];
  if (!found.isDirectory()) return ['--ro-bind', path, path];
  const [hooks, config] = [join(path, 'hooks'), join(path, 'config')];
  const closed =
    lstatUnlinked(hooks) === null ? ['--tmpfs', hooks, '--remount-ro', hooks] : ['--ro-bind', hooks, hooks];
  return ['--bind', path, path, ...closed, ...readOnlyMount(config), ...hooksPathMounts(config, root)];
}

/** A file in the place of the repository tells where it is. */
function linkedRepository(git: string, root: string): readonly string[] {
  if (lstatUnlinked(git)?.isFile() !== true) return [];
  const configured = /^gitdir: (.+)$/m.exec(readFileSync(git, 'utf8'))?.[1];
  const path = configured === undefined ? root : resolve(root, configured.trim());
  return isBelow(root, path) ? [path] : [];
}

/** Hooks may be kept in another folder of the project. */
function hooksPathMounts(config: string, root: string): readonly string[] {
  if (!existsSync(config)) return [];
  const configured = /^\s*hookspath\s*=\s*"?([^"\n]+)/im.exec(readFileSync(config, 'utf8'))?.[1];
  const path = configured === undefined ? root : resolve(root, configured.trim());
  return isBelow(root, path) ? [...pinnedMounts(dirname(path), root), ...readOnlyMount(path)] : [];
}

const isBelow = (root: string, path: string): boolean => path !== root && isInside(root, path);

/** The folders on the way, so that none of them can be moved away with what is in it. */
function pinnedMounts(path: string, root: string): readonly string[] {
  if (!isBelow(root, path)) return [];
  return [...pinnedMounts(dirname(path), root), ...(lstatUnlinked(path) === null ? [] : ['--bind', path, path])];
}

function readOnlyMount(path: string): readonly string[] {
  return lstatUnlinked(path) === null ? [] : ['--ro-bind', path, path];
}

// Nothing can be mounted over a link, so a command could put something else in its place.
function lstatUnlinked(path: string): Stats | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink() !== true) return found ?? null;
  throw new HiError('config', `Not run: tools.sandbox is on, but cannot protect '${path}', which is a symbolic link.`, {
    hint: "The user can replace it with the folder itself (for .git, also with a file that says 'gitdir: FOLDER') or set tools.sandbox to false.",
  });
}
