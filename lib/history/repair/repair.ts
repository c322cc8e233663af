import { existsSync, rmSync } from 'node:fs';
import type { Entry } from '../../chat/entry.js';
import type { HistoryPaths } from '../base/history-paths.js';
import { linkOrCopy } from '../base/link-or-copy.js';
import type { Codec } from '../file/frames/codec.js';
import { historyFolder, removeConversation, resolveLinks } from '../file/link-targets.js';
import { assertLockHeld } from '../lock/holder.js';
import { ArrayFile } from './array-file.js';
import { keptNotice, repairNotice } from './repair-notices.js';
import { replaceHistory, syncFolder, writeLog } from './rewrite.js';
import type { Salvage } from './salvage.js';

const EXTENSION = '.json.zst';

/**
 * Replaces a damaged history with its trusted entries, writes the readable but unverified ones to a file next to it, and keeps the damaged file
 * under a dated name. Returns the notice. `log` is the name of the conversation if the file has none.
 * Only under the lock. When it throws a system error the damaged file is unchanged.
 */
export function repair(codec: Codec, paths: HistoryPaths, log: string, now: Date): string {
  const real = resolveLinks(paths);
  const kept = freeName(real, now);
  linkOrCopy(real.history, kept);
  const damaged = ArrayFile.open(codec, kept, true);
  try {
    const { salvage } = damaged;
    const { entries, unverified } = written(codec, paths, log, salvage, kept);
    if (entries === 0) {
      assertLockHeld();
      removeConversation(paths, real);
    }
    syncFolder(historyFolder(real));
    return repairNotice(salvage.report, kept, unverified);
  } finally {
    damaged.close();
  }
}

/** Writes the trusted and the unverified entries. When that fails the damaged file is still in place, and the copies are removed. */
function written(codec: Codec, paths: HistoryPaths, log: string, salvage: Salvage, kept: string) {
  const path = `${kept.slice(0, -EXTENSION.length)}-unverified${EXTENSION}`;
  const unverified = salvage.report.unverified === 0 ? null : path;
  try {
    if (unverified !== null) writeLog(codec, unverified, log, salvage.unverified());
    return { entries: replaceHistory(codec, paths, salvage.log ?? log, salvage.entries()).entries, unverified };
  } catch (thrown) {
    for (const copy of [path, kept]) rmSync(copy, { force: true });
    throw thrown;
  }
}

/**
 * Converts a file of another program to hi's layout and appends these entries. If elements were changed or left out, keeps the file under a dated name
 * and returns the notice, else null. Only under the lock. When it throws a system error the file is unchanged.
 */
export function convert(
  codec: Codec,
  paths: HistoryPaths,
  log: string,
  file: ArrayFile,
  more: readonly Entry[],
  now: Date,
): string | null {
  const { report } = file;
  const real = resolveLinks(paths);
  const kept = report && freeName(real, now);
  if (kept) linkOrCopy(real.history, kept);
  replaceHistory(codec, paths, log, entriesOf(file, more));
  return kept && keptNotice(kept);
}

function* entriesOf(file: ArrayFile, more: readonly Entry[]): Generator<Entry> {
  for (const entries of file.all('Converting the history')) yield* entries;
  yield* more;
}

/** A name with the date and time, and a number if that one is taken. */
function freeName({ damagedPrefix }: HistoryPaths, now: Date): string {
  const stamp = now.toISOString().slice(0, 19).replaceAll(':', '-');
  for (let count = 1; ; count += 1) {
    const path = `${damagedPrefix}${stamp}${count === 1 ? '' : `-${count}`}${EXTENSION}`;
    if (!existsSync(path)) return path;
  }
}
