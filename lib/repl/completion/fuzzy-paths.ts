import { type Dirent, opendirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PathCandidate } from './path-completion.js';

/** How many entries are read at most. */
const MOST_ENTRIES = 20_000;
/** How long a search may take, in milliseconds. */
const TIME_LIMIT = 120;
const MOST_FOUND = 20;

/** Folders with other people's code or build output. */
const SKIPPED = new Set(['node_modules', '__pycache__', 'target', 'vendor']);

/**
 * Returns the files and folders below `cwd` that match `typed` best, best match first. A path matches if it contains `typed`, or its letters
 * in the same order. Hidden folders and installed packages are left out. A large tree is searched as far as the time allows, nearest folders
 * first.
 */
export async function fuzzyPaths(typed: string, cwd: string): Promise<readonly PathCandidate[]> {
  const found: { readonly candidate: PathCandidate; readonly score: number }[] = [];
  for await (const candidate of below(cwd)) {
    const score = scoreOf(candidate.path.toLowerCase(), typed.toLowerCase());
    if (score !== null) found.push({ candidate, score });
  }
  const isExact = found.some(({ score }) => score < BY_LETTERS);
  return found
    .filter(({ score }) => !isExact || score < BY_LETTERS)
    .sort((one, other) => one.score - other.score || (one.candidate.path < other.candidate.path ? -1 : 1))
    .slice(0, MOST_FOUND)
    .map(({ candidate }) => candidate);
}

/** The lowest score of a path whose matching letters are scattered. Such paths are listed only if nothing else matches. */
const BY_LETTERS = 3_000_000;

/** Lower is better; null if the path does not match. */
function scoreOf(path: string, typed: string): number | null {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.startsWith(typed)) return path.length;
  if (name.includes(typed)) return 1_000_000 + path.length;
  if (path.includes(typed)) return 2_000_000 + path.length;
  return isIn(typed, name) ? BY_LETTERS + path.length : isIn(typed, path) ? 2 * BY_LETTERS + path.length : null;
}

/** Whether the text contains the letters in this order. */
function isIn(letters: string, text: string): boolean {
  let at = -1;
  for (const letter of letters) {
    at = text.indexOf(letter, at + 1);
    if (at === -1) return false;
  }
  return true;
}

async function* below(cwd: string): AsyncGenerator<PathCandidate> {
  const until = performance.now() + TIME_LIMIT;
  let left = MOST_ENTRIES;
  const folders = [''];
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    for (const entry of entriesOf(join(cwd, folder), left)) {
      left -= 1;
      if (entry.name.startsWith('.') || SKIPPED.has(entry.name)) continue;
      const path = folder + entry.name;
      if (entry.isDirectory()) folders.push(`${path}/`);
      yield { path, isFolder: entry.isDirectory() };
    }
    if (left <= 0 || performance.now() > until) return;
    // Lets keys be handled in between.
    await nextTurn();
  }
}

/** At most `most` entries of a folder; none if it cannot be read. */
function entriesOf(folder: string, most: number): readonly Dirent[] {
  try {
    const opened = opendirSync(folder);
    try {
      const entries: Dirent[] = [];
      for (let entry = opened.readSync(); entry !== null && entries.length < most; entry = opened.readSync())
        entries.push(entry);
      return entries;
    } finally {
      opened.closeSync();
    }
  } catch {
    return [];
  }
}
