import { existsSync, lstatSync, readFileSync, type Stats } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { HiError } from '../errors.js';
import { isInside } from './paths/resolve-path.js';

/**
 * The arguments that make read-only what a writable working folder lets a command leave behind to run outside the sandbox later:
 * git hooks, the settings of git, husky. Throws a `HiError` where one of them cannot be protected.
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

/** The repository is mounted over itself: a mount point cannot be renamed, so no other repository can take its place. */
function repositoryMounts(path: string, root: string): readonly string[] {
  const found = lstatUnlinked(path);
  if (found === null) return [];
  if (!found.isDirectory()) return ['--ro-bind', path, path];
  const [hooks, config] = [join(path, 'hooks'), join(path, 'config')];
  const closed =
    lstatUnlinked(hooks) === null ? ['--tmpfs', hooks, '--remount-ro', hooks] : ['--ro-bind', hooks, hooks];
  return ['--bind', path, path, ...closed, ...readOnlyMount(config), ...hooksPathMounts(config, root)];
}

/** Where `.git` is a file, it names the folder of the repository. */
function linkedRepository(git: string, root: string): readonly string[] {
  if (lstatUnlinked(git)?.isFile() !== true) return [];
  const configured = /^gitdir: (.+)$/m.exec(readFileSync(git, 'utf8'))?.[1];
  const path = configured === undefined ? root : resolve(root, configured.trim());
  return isBelow(root, path) ? [path] : [];
}

/** `core.hooksPath` may name another folder of the project. */
function hooksPathMounts(config: string, root: string): readonly string[] {
  if (!existsSync(config)) return [];
  const configured = /^\s*hookspath\s*=\s*"?([^"\n]+)/im.exec(readFileSync(config, 'utf8'))?.[1];
  const path = configured === undefined ? root : resolve(root, configured.trim());
  return isBelow(root, path) ? [...pinnedMounts(dirname(path), root), ...readOnlyMount(path)] : [];
}

const isBelow = (root: string, path: string): boolean => path !== root && isInside(root, path);

/** The folders above, each mounted over itself, so that none of them can be renamed and replaced. */
function pinnedMounts(path: string, root: string): readonly string[] {
  if (!isBelow(root, path)) return [];
  return [...pinnedMounts(dirname(path), root), ...(lstatUnlinked(path) === null ? [] : ['--bind', path, path])];
}

function readOnlyMount(path: string): readonly string[] {
  return lstatUnlinked(path) === null ? [] : ['--ro-bind', path, path];
}

// Nothing can be mounted over a symbolic link, so a command could replace it.
function lstatUnlinked(path: string): Stats | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink() !== true) return found ?? null;
  throw new HiError('config', `Not run: tools.sandbox is on, but cannot protect '${path}', which is a symbolic link.`, {
    hint: "The user can replace it with the folder itself (for .git, also with a file that says 'gitdir: FOLDER') or set tools.sandbox to false.",
  });
}
