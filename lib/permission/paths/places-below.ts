import { type Dirent, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { isPrivatePath, isStartupPath } from './private-places.js';

/** Folders are read no deeper than this below the one that was given: ~/.local/share/fish/fish_history is four steps deep. */
const MAX_DEPTH = 4;

/** At most this many folders are read: about 10 ms. */
const MAX_FOLDERS = 500;

/** What is large and holds no file of the user's own. */
const SKIPPED = new Set(
  'node_modules .git .cargo .rustup .nvm .npm .pyenv .rbenv .venv venv site-packages .bun .deno .vscode .vscode-server __pycache__ target dist build'.split(
    ' ',
  ),
);

/**
 * The private places that exist in these folders, for a sandbox to hide: absolute paths of files and of whole folders, by the same
 * table that calls are judged by (`isPrivatePath`). Breadth first, hidden folders before others, so what a limit leaves out is what
 * lies deepest. Follows no link into a folder; a link of a private name stands for what it leads to, because nothing can be mounted
 * over a link. Synchronous; never throws.
 */
export function privatePlacesBelow(folders: readonly string[], limit = MAX_FOLDERS): readonly string[] {
  return placesBelow(folders, isPrivatePath, limit);
}

/** The files and folders that exist in these folders and from which programs take commands later (`isStartupPath`), found in the same way. */
export function startupPlacesBelow(folders: readonly string[], limit = MAX_FOLDERS): readonly string[] {
  return placesBelow(folders, isStartupPath, limit);
}

function placesBelow(folders: readonly string[], isMeant: (path: string) => boolean, limit: number): readonly string[] {
  const found = new Set<string>();
  let level = [...new Set(folders)];
  let left = limit;
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth += 1) {
    const read = level.slice(0, left);
    left -= read.length;
    level = read.flatMap((folder) => {
      const below = entriesOf(folder).map((entry) => ({ entry, path: join(folder, entry.name) }));
      for (const { entry, path } of below) if (isMeant(path)) found.add(entry.isSymbolicLink() ? realPath(path) : path);
      return below.filter(({ entry, path }) => isEntered(entry) && !isMeant(path)).map(({ path }) => path);
    });
    level.sort(hiddenFirst);
  }
  return [...found];
}

const isEntered = (entry: Dirent): boolean => entry.isDirectory() && !SKIPPED.has(entry.name);

const isHidden = (path: string): boolean => path.includes('/.');

const hiddenFirst = (one: string, other: string): number => Number(isHidden(other)) - Number(isHidden(one));

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
