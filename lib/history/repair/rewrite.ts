import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Entry } from '../../chat/message.js';
import { fileNamesIn } from '../../remove-files.js';
import { type HistoryPaths, PROCESS_NAME } from '../base/history-paths.js';
import type { Codec } from '../file/codec.js';
import type { Facts } from '../file/facts.js';
import { historyFolder, resolveLinks } from '../file/links.js';
import { LogWriter } from '../file/log-writer.js';
import { RecentEntries } from '../file/recent-entries.js';
import { assertLockHeld, heartbeat } from '../lock/holder.js';
import { processName } from '../lock/process-name.js';

/**
 * Puts a newly written log of these entries in the place of the history, whole or not at all: a sibling file, fsync, rename. Only under the lock.
 * A link is followed and stays, and the file keeps its mode; other names of the old file (hard links) keep the old file. Returns the facts of what was written; with no entries the old file stays. Throws what the system throws, the old file as it was.
 */
export function replaceHistory(codec: Codec, paths: HistoryPaths, log: string, entries: Iterable<Entry>): Facts {
  const real = resolveLinks(paths);
  removeTempFiles(real);
  // Not `AsideFile`: the name tells the holder of the lock what a kill left, and the lock must still be held right before the rename.
  const sibling = real.tempPrefix + processName();
  try {
    const mode = statSync(real.history, { throwIfNoEntry: false })?.mode;
    const facts = writeLog(codec, sibling, log, entries, mode);
    // Later than the sibling was made: whoever takes the lock away removes what lies beside the history.
    assertLockHeld();
    if (facts.entries === 0) rmSync(sibling);
    else renameSync(sibling, real.history);
    syncFolder(historyFolder(real));
    return facts;
  } catch (thrown) {
    rmSync(sibling, { force: true });
    throw thrown;
  }
}

/** Writes a log of these entries to a file of its own, on disk when this returns. Throws what the system throws. */
export function writeLog(codec: Codec, path: string, log: string, entries: Iterable<Entry>, mode?: number): Facts {
  const file = openSync(path, 'w', 0o600);
  try {
    if (mode !== undefined) fchmodSync(file, mode & 0o7777);
    const writer = new LogWriter(codec, file, log);
    const recent = new RecentEntries();
    for (const entry of entries) {
      writer.add(entry);
      recent.add(entry);
      heartbeat();
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

/** Removes what a killed process was writing. Only under the lock, where nobody else is; of `followed` paths. */
export function removeTempFiles(paths: HistoryPaths): void {
  const prefix = basename(paths.tempPrefix);
  for (const name of fileNamesIn(historyFolder(paths))) {
    if (name.startsWith(prefix) && PROCESS_NAME.test(name.slice(prefix.length))) {
      rmSync(join(historyFolder(paths), name), { force: true });
    }
  }
}
