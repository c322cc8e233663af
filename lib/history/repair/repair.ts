import { closeSync, existsSync, fchmodSync, fstatSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Entry } from '../../chat/entry.js';
import { quantity } from '../../chat/text.js';
import { fileNamesIn, renameOver } from '../../disk.js';
import { type HistoryPaths, linkOrCopy, PROCESS_NAME } from '../base/history-paths.js';
import { type Codec, readAt, writeAt } from '../file/codec.js';
import { Damaged } from '../file/frames.js';
import type { Facts } from '../file/layout.js';
import { historyFolder, LogFile, removeConversation, resolveLinks } from '../file/log-file.js';
import { LogWriter, RecentEntries } from '../file/whole-log.js';
import { assertLockHeld, heartbeat, processName } from '../lock/holder.js';
import { ArrayFile, hasNativeOpening } from './open-log.js';
import type { Salvage, SalvageReport } from './salvage.js';

const EXTENSION = '.json.zst';

/**
 * Replaces a damaged history with its trusted entries, writes the readable but unverified ones to a file next to it,
 * and keeps the damaged file under a dated name. Returns the notice. `log` is the name of the conversation if the file
 * has none. Only under the lock. When it throws a system error the damaged file is unchanged.
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

/**
 * Writes the trusted and the unverified entries. When that fails the damaged file is still in place, and the copies are
 * removed.
 */
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
 * Converts a file of another program to hi's layout and appends these entries. If elements were changed or left out,
 * keeps the file under a dated name and returns the notice, else null. Only under the lock. When it throws a system
 * error the file is unchanged.
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

/**
 * Replaces the history with a new log of these entries, atomically: a temporary file, fsync, rename. Only under the
 * lock. Follows links and keeps them and the mode of the file; other hard links keep the old content. Returns the
 * totals of the written entries; without entries the old file stays. When it throws a system error the old file is
 * unchanged.
 */
export function replaceHistory(codec: Codec, paths: HistoryPaths, log: string, entries: Iterable<Entry>): Facts {
  const real = resolveLinks(paths);
  removeTempFiles(real);
  // Not `AsideFile`: after a kill the lock holder recognises the file by its name, and the lock is checked right before
  // the rename.
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

/** The size of a chunk when copying. */
const CHUNK_SIZE = 1024 * 1024;

/** A process that resumes may finish a write while the file is copied; then it is copied again. */
const COPY_TRIES = 3;

/**
 * Fences off a process that lost the lock and may resume in the middle of a write: removes its temporary files, so that
 * it cannot rename them, and replaces the history with a copy, so that the file it has open is another one. Only under
 * the lock, before anything is read. When it throws a system error the history is unchanged.
 */
export function fenceOff(codec: Codec, paths: HistoryPaths): void {
  const real = resolveLinks(paths);
  removeTempFiles(real);
  if (!statSync(real.history, { throwIfNoEntry: false })?.isFile()) return;
  const sibling = real.tempPrefix + processName();
  try {
    for (let tries = 1; ; tries += 1) {
      copy(real.history, sibling);
      if (tries === COPY_TRIES || isReadable(codec, sibling)) break;
    }
    assertLockHeld();
    renameOver(sibling, real.history);
  } catch (thrown) {
    rmSync(sibling, { force: true });
    throw thrown;
  }
  syncFolder(historyFolder(real));
}

/**
 * Copies from beginning to end. Writers rely on this order: the bytes that make an append valid come before its
 * content.
 */
function copy(from: string, to: string): void {
  const [source, target] = [openSync(from, 'r'), openSync(to, 'w', 0o600)];
  try {
    const { mode, size } = fstatSync(source);
    fchmodSync(target, mode & 0o7777);
    for (let at = 0; at < size; at += CHUNK_SIZE) {
      writeAt(target, readAt(source, at, Math.min(CHUNK_SIZE, size - at)), at);
      heartbeat();
    }
    fsyncSync(target);
  } finally {
    closeSync(source);
    closeSync(target);
  }
}

/** True for a file that loads, and for one of another layout: those are never changed in place. */
function isReadable(codec: Codec, path: string): boolean {
  if (!hasNativeOpening(path)) return true;
  try {
    const file = LogFile.open(codec, path, 'r');
    try {
      file.load();
    } finally {
      file.close();
    }
    return true;
  } catch (thrown) {
    if (thrown instanceof Damaged) return false;
    throw thrown;
  }
}

/** The notice about a repair: what happened, what was recovered, what was not, and where the file is kept. */
export function repairNotice(report: SalvageReport, kept: string, unverified: string | null): string {
  const { entries, format, parts } = report;
  const isDamaged = format === null && parts < 2;
  return [
    ...causes(report),
    entries > 0 ? `${quantity(entries, 'entry was', 'entries were')} recovered.` : emptyNotice(report),
    ...losses(report, unverified),
    `The ${isDamaged ? 'damaged ' : ''}file is kept as '${kept}'.`,
  ].join(' ');
}

/** The notice about an edited file. It is not damaged and stays in place until something is written. */
export function editNotice(report: SalvageReport): string {
  const { changed, isRenumbered, foreign } = report;
  const done = [
    ...(isRenumbered ? ['entries got new ids, because theirs do not ascend or are too high'] : []),
    ...(changed > 0 ? [`${quantity(changed, 'entry', 'entries')} lacked fields, which were filled in`] : []),
    ...(foreign > 0 ? [foreignElements(foreign)] : []),
  ];
  return `The history was edited by another program: ${done.join('; ')}. The file stays unchanged until the next message.`;
}

/** The notice that says where the edited file is kept, once a message was written. */
export function keptNotice(path: string): string {
  return `The edited history is kept as '${path}'.`;
}

function emptyNotice({ unverified }: SalvageReport): string {
  return unverified > 0 ? 'A new history was started.' : 'Nothing in it could be read. A new history was started.';
}

function causes({ format, parts, missing, unverified }: SalvageReport): readonly string[] {
  const found: string[] = [];
  if (format !== null) found.push(`The history was not one JSON array in zstd but ${format}.`);
  if (parts > 1) found.push(`The history was ${parts} files joined into one; they are one conversation now.`);
  if (found.length === 0 || missing + unverified > 0) found.push('The history was damaged.');
  return found;
}

function losses({ missing, unverified, foreign, repeated }: SalvageReport, path: string | null): readonly string[] {
  const found: string[] = [];
  if (missing > 0) found.push(`${quantity(missing, 'entry is', 'entries are')} missing.`);
  if (unverified > 0) found.push(`${unconfirmedEntries(unverified)}; see '${path}'.`);
  if (foreign > 0) found.push(`${foreignElements(foreign)}.`);
  if (repeated > 0) found.push(`${quantity(repeated, 'entry was', 'entries were')} there twice.`);
  return found;
}

function unconfirmedEntries(count: number): string {
  return `${quantity(count, 'entry is', 'entries are')} left out, because no checksum confirms ${count === 1 ? 'it' : 'them'}`;
}

function foreignElements(count: number): string {
  const reason = count === 1 ? 'it is not a message' : 'they are not messages';
  return `${quantity(count, 'element is', 'elements are')} left out, because ${reason}`;
}
