import { closeSync, fchmodSync, fstatSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import type { HistoryPaths } from '../base/history-paths.js';
import { readAt, writeAt } from '../file/bytes.js';
import type { Codec } from '../file/codec.js';
import { Damaged } from '../file/damaged.js';
import { historyFolder, resolveLinks } from '../file/links.js';
import { LogFile } from '../file/log-file.js';
import { assertLockHeld, heartbeat } from '../lock/holder.js';
import { processName } from '../lock/process-name.js';
import { hasNativeOpening } from './open-log.js';
import { removeTempFiles, syncFolder } from './rewrite.js';

/** How much is copied at once. */
const CHUNK_SIZE = 1024 * 1024;

/** One that wakes up in the middle of a write may do the rest of it while the file is copied; then it is copied again. */
const COPY_TRIES = 3;

/**
 * Puts the history out of the reach of a process that lost the lock and may wake up in the middle of a write: what it has written beside the history is
 * removed, so that it cannot be renamed, and a copy takes the place of the history, so that what it has open is another file. Only under the lock, before
 * anything is read. Throws what the system throws, the history as it was.
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
    renameSync(sibling, real.history);
  } catch (thrown) {
    rmSync(sibling, { force: true });
    throw thrown;
  }
  syncFolder(historyFolder(real));
}

/** From the beginning to the end, as writers count on: what an append makes valid lies behind that which makes it so. */
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

/** Only a file of hi's layout is ever changed in its place. */
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
