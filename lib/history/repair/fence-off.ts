import { closeSync, fchmodSync, fstatSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs';
import { renameOver } from '../../write-aside.js';
import type { HistoryPaths } from '../base/history-paths.js';
import { readAt, writeAt } from '../file/frames/bytes.js';
import type { Codec } from '../file/frames/codec.js';
import { Damaged } from '../file/frames/damaged.js';
import { historyFolder, resolveLinks } from '../file/link-targets.js';
import { LogFile } from '../file/log-file.js';
import { assertLockHeld, heartbeat } from '../lock/holder.js';
import { processName } from '../lock/process-name.js';
import { hasNativeOpening } from './open-log.js';
import { removeTempFiles, syncFolder } from './rewrite.js';

/** The size of a chunk when copying. */
const CHUNK_SIZE = 1024 * 1024;

/** A process that resumes may finish a write while the file is copied; then it is copied again. */
const COPY_TRIES = 3;

/**
 * Fences off a process that lost the lock and may resume in the middle of a write: removes its temporary files, so that it cannot rename them, and replaces
 * the history with a copy, so that the file it has open is another one. Only under the lock, before anything is read. When it throws a system error the
 * history is unchanged.
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

/** Copies from beginning to end. Writers rely on this order: the bytes that make an append valid come before its content. */
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
