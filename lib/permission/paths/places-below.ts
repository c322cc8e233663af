import { type Dirent, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { systemCode } from '../../errors.js';
import { isPrivatePath } from './private-places.js';

/** Folders are read no deeper than this below the one that was given: ~/.local/share/fish/fish_history is four steps deep. */
const MAX_DEPTH = 4;

/** At most this many folders are read: 10 to 40 ms the first time, and about 2 ms for each later call. */
const MAX_FOLDERS = 500;

/** Large folders that contain none of the user's own files. */
const SKIPPED = new Set(
  'node_modules .git .cargo .rustup .nvm .npm .pyenv .rbenv .venv venv site-packages .bun .deno .vscode .vscode-server __pycache__ target dist build'.split(
    ' ',
  ),
);

/** A folder that changed a moment ago may change again without a new timestamp. */
const SETTLED_MS = 100;

/** What was found in one folder; valid until the folder's time of change differs. */
interface Folder {
  readonly changed: number;
  readonly meant: readonly { readonly path: string; readonly isLink: boolean }[];
  readonly entered: readonly string[];
}

/** What to look for, and the results of earlier calls. */
interface Search {
  isMeant(path: string, entry: Dirent): boolean;
  readonly known: Map<string, Folder>;
}

// A named pipe can be written to even in a read-only place, and a program of the user reads it.
const PRIVATE: Search = { isMeant: (path, entry) => isPrivatePath(path) || entry.isFIFO(), known: new Map() };
const isRepository = (path: string): boolean => basename(path) === '.git';
const REPOSITORY: Search = { isMeant: isRepository, known: new Map() };

/**
 * The private places that exist in these folders, for a sandbox to hide: absolute paths of files and of whole folders, by the same
 * table that calls are judged by (`isPrivatePath`), and named pipes. Searches breadth first, hidden folders before others, so that the limit omits only the
 * deepest. Follows no link into a folder. A link with a private name counts as its target, because nothing can be mounted
 * over a link. A folder that cannot be listed counts as private. A folder is read again when its modification time differs, as after every new, renamed or
 * removed file, so that a file created before the call is found. Synchronous; never throws.
 */
export function privatePlacesBelow(folders: readonly string[], limit = MAX_FOLDERS): readonly string[] {
  return placesBelow(folders, PRIVATE, limit);
}

/** The `.git` of each repository in this folder, found in the same way. */
export function repositoriesBelow(folder: string): readonly string[] {
  return placesBelow([folder], REPOSITORY, MAX_FOLDERS).filter(isRepository);
}

function placesBelow(folders: readonly string[], search: Search, limit: number): readonly string[] {
  const found = new Set<string>();
  let level = [...new Set(folders)];
  let left = limit;
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth += 1) {
    const read = level.slice(0, left).map((folder) => folderAt(folder, search));
    left -= read.length;
    for (const { meant } of read) for (const { path, isLink } of meant) found.add(isLink ? realPath(path) : path);
    level = read.flatMap(({ entered }) => entered).sort(hiddenFirst);
  }
  return [...found];
}

function folderAt(folder: string, { isMeant, known }: Search): Folder {
  const changed = changeTime(folder);
  const before = known.get(folder);
  if (before?.changed === changed) return before;
  const entries = entriesOf(folder);
  if (entries === null) return { changed, meant: [{ path: folder, isLink: false }], entered: [] };
  const below = entries.map((entry) => ({ entry, path: join(folder, entry.name) }));
  const meant = below.filter(({ path, entry }) => isMeant(path, entry));
  const found = {
    changed,
    meant: meant.map(({ entry, path }) => ({ path, isLink: entry.isSymbolicLink() })),
    entered: below.filter((one) => isEntered(one.entry) && !meant.includes(one)).map(({ path }) => path),
  };
  if (known.size > 10 * MAX_FOLDERS) known.clear();
  if (Date.now() - changed > SETTLED_MS) known.set(folder, found);
  return found;
}

function changeTime(path: string): number {
  try {
    return lstatSync(path).ctimeMs;
  } catch {
    return Number.NaN;
  }
}

const isEntered = (entry: Dirent): boolean => entry.isDirectory() && !SKIPPED.has(entry.name);

const isHidden = (path: string): boolean => path.includes('/.');

const hiddenFirst = (one: string, other: string): number => Number(isHidden(other)) - Number(isHidden(one));

function entriesOf(folder: string): readonly Dirent[] | null {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (failure) {
    return ['ENOENT', 'ENOTDIR'].includes(systemCode(failure) ?? '') ? [] : null;
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
