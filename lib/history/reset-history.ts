import { existsSync, lstatSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { followLinks, leadsToFile, requireRegularFile, writeAside } from '../disk.js';
import { HiError, systemCode } from '../errors.js';
import { collectGarbage, removeUnusedFolder } from './attachments.js';
import { type HistoryPaths, linkOrCopy } from './base/history-paths.js';
import { loadCodec } from './file/codec.js';
import { Damaged } from './file/frames.js';
import { conflictCopies, damagedCopies, historyFolder, removeConversation, resolveLinks } from './file/log-file.js';
import { assertLockHeld } from './lock/holder.js';
import { openDamaged, openLog, readLog } from './repair/open-log.js';
import { removeTempFiles, syncFolder } from './repair/repair.js';

/**
 * Moves the conversation to the reset copy, and replaces the copy of an earlier reset. Only under the lock. One rename
 * decides, so a kill at any moment leaves it done or not done. The attachments of both conversations are in one folder
 * and stay there as long as either refers to them.
 */
export function moveToResetCopy(paths: HistoryPaths): void {
  const real = afterInterruptedSwap(paths);
  if (!existsSync(real.history)) return;
  for (const path of [real.history, real.resetCopy]) requireRegularFile(path);
  const replaces = existsSync(real.resetCopy);
  assertLockHeld();
  renameSync(real.history, real.resetCopy);
  syncFolder(historyFolder(real));
  if (replaces) collectUnused(real);
}

/**
 * Restores the reset copy; the conversation since the reset becomes the copy. Only under the lock. One rename decides,
 * so a kill at any moment leaves it done or not done; the next reset or undo then gives the other conversation its
 * name. Throws a `HiError` if there is no copy or nothing in it can be read.
 */
export function restoreResetCopy(paths: HistoryPaths): void {
  const real = afterInterruptedSwap(paths);
  if (!existsSync(real.resetCopy)) {
    throw new HiError('history', `There is no conversation to bring back in '${historyFolder(real)}'.`, {
      hint: 'Only the last reset can be undone, and not one with --purge.',
    });
  }
  for (const path of [real.history, real.resetCopy]) requireRegularFile(path);
  requireReadable(real.resetCopy);
  if (existsSync(real.history)) linkOrCopy(real.history, real.swap);
  assertLockHeld();
  renameSync(real.resetCopy, real.history);
  finishSwap(real);
  syncFolder(historyFolder(real));
}

/** Throws a `HiError` for an unreadable copy, which would replace a readable conversation. */
function requireReadable(path: string): void {
  const codec = loadCodec();
  try {
    openLog(codec, path, true).file.close();
    return;
  } catch (thrown) {
    if (!(thrown instanceof Damaged)) throw thrown;
  }
  const { file, entries } = openDamaged(codec, path);
  file.close();
  if (entries.length > 0) return;
  throw new HiError('history', `The copy '${path}' is damaged, and nothing in it can be read.`, {
    hint: 'The conversation is unchanged. Replace the copy with an intact file, or move it away.',
  });
}

/**
 * Removes the conversation and every copy of it, damaged ones too; the conversation last, so that it exists as long as
 * a copy does. Only under the lock. Returns notices about what could not be reached.
 */
export function purge(paths: HistoryPaths): readonly string[] {
  if (!existsSync(paths.folder)) return [];
  const real = resolveLinks(paths);
  requireRegularFile(real.history);
  const places = [real, paths];
  const copies = [
    ...places.flatMap(({ resetCopy, swap }) => [swap, resetCopy]),
    ...damagedCopies(paths),
    ...conflictCopies(paths),
  ];
  const notices = hardLinkNotices([real.history, ...copies]);
  assertLockHeld();
  for (const place of places) removeTempFiles(place);
  for (const copy of copies.filter(leadsToFile)) {
    // Where a copy is a link, what it leads to is a copy too.
    rmSync(followLinks(copy), { force: true });
    rmSync(copy, { force: true });
  }
  removeConversation(paths, real);
  if (leadsToFile(paths.reportedCrashes)) rmSync(paths.reportedCrashes, { force: true });
  syncFolder(historyFolder(real));
  collectGarbage(paths, []);
  removeUnusedFolder(paths);
  syncFolder(paths.folder);
  return notices;
}

/** Resolves the links, finishes an interrupted swap, and returns the paths. */
function afterInterruptedSwap(paths: HistoryPaths): HistoryPaths {
  const real = resolveLinks(paths);
  finishSwap(real);
  if (real.history !== paths.history && !existsSync(real.resetCopy) && existsSync(paths.resetCopy)) {
    // The reset happened before the history became a link.
    writeAside(real.resetCopy, readFileSync(paths.resetCopy), { mode: 0o600, synced: true });
    rmSync(paths.resetCopy);
  }
  return real;
}

/** Finishes an interrupted swap: the replaced conversation becomes the copy, unless nothing was replaced yet. */
function finishSwap({ swap, resetCopy }: HistoryPaths): void {
  if (!existsSync(swap)) return;
  for (const path of [swap, resetCopy]) requireRegularFile(path);
  if (existsSync(resetCopy)) rmSync(swap);
  else renameSync(swap, resetCopy);
}

/** Ignores errors, because the reset is already done, and the next one removes the rest. */
function collectUnused(paths: HistoryPaths): void {
  try {
    collectGarbage(paths, [paths.history, paths.resetCopy, paths.swap, ...conflictCopies(paths)].map(readLog));
    removeUnusedFolder(paths);
  } catch (thrown) {
    if (systemCode(thrown) === null && !(thrown instanceof HiError)) throw thrown;
  }
}

/** Notices about files that have further hard links. */
function hardLinkNotices(paths: readonly string[]): readonly string[] {
  const known = new Map<string, { readonly path: string; readonly names: number; found: number }>();
  for (const path of paths) {
    const file = statSync(path, { throwIfNoEntry: false });
    if (file === undefined) continue;
    const key = `${file.dev}:${file.ino}`;
    const one = known.get(key) ?? { path, names: file.nlink, found: 0 };
    if (lstatSync(path).isFile()) one.found += 1;
    known.set(key, one);
  }
  return [...known.values()]
    .filter(({ names, found }) => names > Math.max(found, 1))
    .map(({ path }) => `'${path}' has another hard link on this disk; its content still exists under that name.`);
}
