import { closeSync, fchmodSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Entry } from '../../chat/entry.js';
import { fileNamesIn } from '../../remove-files.js';
import { renameOver } from '../../write-aside.js';
import { type HistoryPaths, PROCESS_NAME } from '../base/history-paths.js';
import type { Facts } from '../file/facts.js';
import type { Codec } from '../file/frames/codec.js';
import { historyFolder, resolveLinks } from '../file/link-targets.js';
import { LogWriter } from '../file/log-writer.js';
import { RecentEntries } from '../file/recent-entries.js';
import { assertLockHeld, heartbeat } from '../lock/holder.js';
import { processName } from '../lock/process-name.js';

/**
 * Replaces the history with a new log of these entries, atomically: a temporary file, fsync, rename. Only under the lock.
 * Follows links and keeps them and the mode of the file; other hard links keep the old content. Returns the totals of the written entries; without entries
 * the old file stays. When it throws a system error the old file is unchanged.
 */
export function replaceHistory(codec: Codec, paths: HistoryPaths, log: string, entries: Iterable<Entry>): Facts {
  const real = resolveLinks(paths);
  removeTempFiles(real);
  // Not `AsideFile`: after a kill the lock holder recognises the file by its name, and the lock is checked right before the rename.
  const sibling = real.tempPrefix + processName();
  try {
    const mode = statSync(real.history, { throwIfNoEntry: false })?.mode;
    const facts = writeLog(codec, sibling, log, entries, mode);
    // After creating the file, because a process that revokes the lock removes temporary files.
    assertLockHeld();
    if (facts.entries === 0) rmSync(sibling);
    else renameOver(sibling, real.history);
    syncFolder(historyFolder(real));
    return facts;
  } catch (thrown) {
    rmSync(sibling, { force: true });
    throw thrown;
  }
}

/** Writes a log of these entries to a new file, which is on disk when this returns. Throws system errors. */
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

/** Syncs the names in a folder to disk, so that they survive a power cut, if the system supports it. */
export function syncFolder(folder: string): void {
  try {
    const file = openSync(folder, 'r');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch {
    // Not every system can sync a folder.
  }
}

/** Removes the temporary files of killed processes. Only under the lock; for paths from `resolveLinks`. */
export function removeTempFiles(paths: HistoryPaths): void {
  const prefix = basename(paths.tempPrefix);
  for (const name of fileNamesIn(historyFolder(paths))) {
    if (name.startsWith(prefix) && PROCESS_NAME.test(name.slice(prefix.length))) {
      rmSync(join(historyFolder(paths), name), { force: true });
    }
  }
}
