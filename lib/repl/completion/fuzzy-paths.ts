import { type Dirent, opendirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { PathCandidate } from './path-completion.js';

/** More entries are not looked at. */
const MOST_ENTRIES = 20_000;
/** So long is searched at most, in milliseconds. */
const LONGEST = 120;
const MOST_FOUND = 20;

/** Folders that hold what others wrote. */
const SKIPPED = new Set(['node_modules', '__pycache__', 'target', 'vendor']);

/**
 * The files and folders below `cwd` that fit `typed` best, the best first: it is a part of the path, or its letters occur
 * in the path in this order. Hidden folders and those of
 * installed packages are left out, and a large tree is searched as far as the time allows, the nearest folders first.
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

/** The scores of paths in which the letters do not follow each other; they count where there are no others. */
const BY_LETTERS = 3_000_000;

/** The less, the better; null for a path that does not fit. */
function scoreOf(path: string, typed: string): number | null {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.startsWith(typed)) return path.length;
  if (name.includes(typed)) return 1_000_000 + path.length;
  if (path.includes(typed)) return 2_000_000 + path.length;
  return isIn(typed, name) ? BY_LETTERS + path.length : isIn(typed, path) ? 2 * BY_LETTERS + path.length : null;
}

/** Whether the letters occur in this order. */
function isIn(letters: string, text: string): boolean {
  let at = -1;
  for (const letter of letters) {
    at = text.indexOf(letter, at + 1);
    if (at === -1) return false;
  }
  return true;
}

async function* below(cwd: string): AsyncGenerator<PathCandidate> {
  const until = performance.now() + LONGEST;
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
    // Keys are taken meanwhile.
    await turn();
  }
}

/** At most so many entries of a folder; none of one that cannot be read. */
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
