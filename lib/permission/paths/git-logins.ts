import { type Dirent, readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { replaceLogins } from './address-logins.js';

/** Git settings whose value is a credential or a header with one. */
const SECRET_SETTING = /^(\s*(?:extraheader|[\w-]*(?:pass|password|passphrase|token|secret))\s*=).+$/i;

/** A helper command in the settings that prints a password. */
const PRINTED_LOGIN = /\bpassword=\S/i;

/** The files in which git keeps settings and records URLs. */
const FILES = ['config', 'config.worktree', 'FETCH_HEAD', 'logs/HEAD', 'logs/refs/remotes/origin/HEAD'];

/** Larger files are not read: no settings file is as large. In bytes. */
const MAX_SIZE = 1_000_000;

/** The most submodules and worktrees that are searched, and how deeply they may be nested. */
const MAX_FOLDERS = 200;
const MAX_DEPTH = 5;

/** Git settings without the credentials in them; the number of lines stays the same. */
export function withoutLogins(text: string): string {
  return replaceLogins(text, () => '')
    .split('\n')
    .map((line) => (PRINTED_LOGIN.test(line) ? `${line.split('=', 1)[0]}=` : line.replace(SECRET_SETTING, '$1')))
    .join('\n');
}

interface Known {
  readonly stamp: string;
  readonly holds: boolean;
}

const known = new Map<string, Known>();

/** Whether this git file contains credentials. Never throws. */
export function holdsLogin(path: string): boolean {
  const found = statOrNull(path);
  if (found === null || !found.isFile() || found.size > MAX_SIZE) return false;
  const stamp = `${found.ino}:${found.size}:${found.mtimeMs}:${found.ctimeMs}`;
  const before = known.get(path);
  if (before?.stamp === stamp) return before.holds;
  const text = textOf(path);
  const holds = text !== null && withoutLogins(text) !== text;
  known.set(path, { stamp, holds });
  return holds;
}

/** The files with credentials in the repository of this `.git`, including those of its submodules and worktrees. */
export function loginFilesOf(git: string): readonly string[] {
  let folders: readonly string[] = [git];
  let level: readonly string[] = ['modules', 'worktrees'].map((name) => join(git, name));
  for (let depth = 0; depth < MAX_DEPTH && folders.length < MAX_FOLDERS; depth += 1) {
    level = level.flatMap(foldersIn);
    folders = [...folders, ...level];
  }
  return folders.slice(0, MAX_FOLDERS).flatMap((folder) => FILES.map((name) => join(folder, name)).filter(holdsLogin));
}

/** The user's own git settings files. */
export function ownSettings(): readonly string[] {
  const settings = process.env.XDG_CONFIG_HOME || join(homedir(), '.config');
  return [join(homedir(), '.gitconfig'), join(settings, 'git/config')];
}

/** Those of them that contain credentials. */
export const ownLoginFiles = (): readonly string[] => ownSettings().filter(holdsLogin);

/** Whether git reads settings from this file or records URLs in it, judging by its path. */
export function isGitFile(path: string): boolean {
  return path.split('/').includes('.git') || /^(?:\.git(?:config|modules)|config(?:\.worktree)?)$/.test(basename(path));
}

/** The repository that a `.git` file points to, and the one whose settings it shares. */
export function repositoriesOf(git: string): readonly string[] {
  const named = /^gitdir: (.+)$/m.exec(textOf(git) ?? '')?.[1];
  const repository = named === undefined ? git : resolve(dirname(git), named.trim());
  const shared = textOf(join(repository, 'commondir'))?.trim();
  return [...new Set([repository, ...(shared ? [resolve(repository, shared)] : [])])];
}

const foldersIn = (folder: string): readonly string[] =>
  entriesOf(folder)
    .filter((entry) => entry.isDirectory() && !['objects', 'refs', 'logs', 'hooks', 'info', 'lfs'].includes(entry.name))
    .map(({ name }) => join(folder, name));

/** The entries of a folder; none if it cannot be listed. */
export function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function statOrNull(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

/** The text of a regular file that is not too large; null for anything else. */
export function textOf(path: string): string | null {
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= MAX_SIZE ? readFileSync(path, 'utf8') : null;
  } catch {
    return null;
  }
}
