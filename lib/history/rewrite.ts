import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry } from '../chat/message.js';
import type { Facts } from './facts.js';
import type { Codec } from './frames.js';
import { assertHeld, beat } from './held.js';
import { instance } from './instance.js';
import type { Paths } from './paths.js';
import { Recent } from './recent.js';
import { LogWriter } from './writer.js';

/** What the name of a file begins with that is to take the place of the history. */
export const NEW_PREFIX = 'history.new.';

/**
 * Puts a newly written log of these entries in the place of the history, whole or not at all: a sibling file, fsync, rename. Only under the lock.
 * Returns the facts of what was written; with no entries the old file stays. Throws what the system throws, the old file as it was.
 */
export function rewrite(codec: Codec, paths: Paths, log: string, entries: Iterable<Entry>): Facts {
  clearLeftovers(paths.folder);
  const sibling = join(paths.folder, NEW_PREFIX + instance());
  try {
    const facts = written(codec, sibling, log, entries);
    // Later than the sibling was made: whoever takes the lock away removes what lies beside the history.
    assertHeld();
    if (facts.entries === 0) rmSync(sibling);
    else renameSync(sibling, paths.history);
    syncFolder(paths.folder);
    return facts;
  } catch (thrown) {
    rmSync(sibling, { force: true });
    throw thrown;
  }
}

function written(codec: Codec, path: string, log: string, entries: Iterable<Entry>): Facts {
  const file = openSync(path, 'w', 0o600);
  try {
    const writer = new LogWriter(codec, file, log);
    const recent = new Recent();
    for (const entry of entries) {
      writer.add(entry);
      recent.add(entry);
      beat();
    }
    writer.finish(recent.first);
    fsyncSync(file);
    return recent.facts;
  } finally {
    closeSync(file);
  }
}

/** Makes created, renamed and removed names last through a power cut, where the system can. */
export function syncFolder(folder: string): void {
  try {
    const file = openSync(folder, 'r');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch {
    // Not every system can sync a folder; the names are then as safe as it makes them.
  }
}

/** Removes what a killed process was writing. Only under the lock, where nobody else is. */
export function clearLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.startsWith(NEW_PREFIX)) rmSync(join(folder, name), { force: true });
  }
}
