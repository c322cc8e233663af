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
  const others = elsewhere(git, root).flatMap((path) => [...pinned(dirname(path), root), ...repository(path, root)]);
  return [...repository(git, root), ...others, ...readOnly(husky)];
}

/** What is mounted cannot be moved away, to put another in its place. */
function repository(path: string, root: string): readonly string[] {
  const found = look(path);
  if (found === null) return [];
  if (!found.isDirectory()) return ['--ro-bind', path, path];
  const [hooks, config] = [join(path, 'hooks'), join(path, 'config')];
  const closed = look(hooks) === null ? ['--tmpfs', hooks, '--remount-ro', hooks] : ['--ro-bind', hooks, hooks];
  return ['--bind', path, path, ...closed, ...readOnly(config), ...ownHooks(config, root)];
}

/** A file in the place of the repository tells where it is. */
function elsewhere(git: string, root: string): readonly string[] {
  if (look(git)?.isFile() !== true) return [];
  const told = /^gitdir: (.+)$/m.exec(readFileSync(git, 'utf8'))?.[1];
  const path = told === undefined ? root : resolve(root, told.trim());
  return isBelow(root, path) ? [path] : [];
}

/** Hooks may be kept in another folder of the project. */
function ownHooks(config: string, root: string): readonly string[] {
  if (!existsSync(config)) return [];
  const told = /^\s*hookspath\s*=\s*"?([^"\n]+)/im.exec(readFileSync(config, 'utf8'))?.[1];
  const path = told === undefined ? root : resolve(root, told.trim());
  return isBelow(root, path) ? [...pinned(dirname(path), root), ...readOnly(path)] : [];
}

const isBelow = (root: string, path: string): boolean => path !== root && isInside(root, path);

/** The folders on the way, so that none of them can be moved away with what is in it. */
function pinned(path: string, root: string): readonly string[] {
  if (!isBelow(root, path)) return [];
  return [...pinned(dirname(path), root), ...(look(path) === null ? [] : ['--bind', path, path])];
}

function readOnly(path: string): readonly string[] {
  return look(path) === null ? [] : ['--ro-bind', path, path];
}

// Nothing can be mounted over a link, so a command could put something else in its place.
function look(path: string): Stats | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink() !== true) return found ?? null;
  throw new HiError(
    'config',
    `Not run: the sandbox is on (tools.sandbox), and cannot protect '${path}', a symbolic link.`,
    {
      hint: "The user can put the folder itself there (for .git also a file that says 'gitdir: FOLDER') or set tools.sandbox to false.",
    },
  );
}
