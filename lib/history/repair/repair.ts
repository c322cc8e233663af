import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry } from '../../chat/message.js';
import { DAMAGED_PREFIX, type HistoryPaths } from '../base/history-paths.js';
import { linkOrCopy } from '../base/link-or-copy.js';
import type { Codec } from '../file/frames.js';
import { followed, homeOf, removeConversation } from '../file/links.js';
import { assertHeld } from '../lock/held.js';
import { ArrayFile } from './array-file.js';
import { reordered, repaired } from './findings.js';
import { rewrite, syncFolder, writeLog } from './rewrite.js';
import type { Salvage } from './salvage.js';

const EXTENSION = '.json.zst';

/**
 * Writes what can be believed of a damaged history as a sound one, what can be read but not believed to a file beside it, and keeps the damaged file
 * under a dated name; returns what to tell the user. `log` names the conversation where the file does not.
 * Only under the lock. Throws what the system throws, the damaged file as it was.
 */
export function repair(codec: Codec, paths: HistoryPaths, log: string, now: Date): string {
  const real = followed(paths);
  const kept = freeName(paths.folder, now);
  linkOrCopy(real.history, kept);
  const damaged = ArrayFile.open(codec, kept, true);
  try {
    const { salvage } = damaged;
    const { entries, doubtful } = written(codec, paths, log, salvage, kept);
    if (entries === 0) {
      assertHeld();
      removeConversation(paths, real);
    }
    syncFolder(homeOf(real));
    return repaired(salvage.findings, kept, doubtful);
  } finally {
    damaged.close();
  }
}

/** Writes what can be believed and what cannot; when that fails the damaged file is still in its place, and the copies are removed. */
function written(codec: Codec, paths: HistoryPaths, log: string, salvage: Salvage, kept: string) {
  const path = `${kept.slice(0, -EXTENSION.length)}-unverified${EXTENSION}`;
  const doubtful = salvage.findings.doubtful === 0 ? null : path;
  try {
    if (doubtful !== null) writeLog(codec, doubtful, log, salvage.doubtful());
    return { entries: rewrite(codec, paths, salvage.log ?? log, salvage.entries()).entries, doubtful };
  } catch (thrown) {
    for (const copy of [path, kept]) rmSync(copy, { force: true });
    throw thrown;
  }
}

/**
 * Gives a file of another program hi's layout, with these entries at its end. Where elements had to be changed or left out the file is kept under a dated
 * name, and what to tell the user is returned; else null. Only under the lock. Throws what the system throws, the file as it was.
 */
export function convert(
  codec: Codec,
  paths: HistoryPaths,
  log: string,
  file: ArrayFile,
  more: readonly Entry[],
  now: Date,
): string | null {
  const { findings } = file;
  const kept = findings && freeName(paths.folder, now);
  if (kept) linkOrCopy(followed(paths).history, kept);
  rewrite(codec, paths, log, entriesOf(file, more));
  return findings && kept && reordered(findings, kept);
}

function* entriesOf(file: ArrayFile, more: readonly Entry[]): Generator<Entry> {
  for (const entries of file.all()) yield* entries;
  yield* more;
}

/** A name with the date and time, and a number when that one is taken. */
function freeName(folder: string, now: Date): string {
  const stamp = now.toISOString().slice(0, 19).replaceAll(':', '-');
  for (let count = 1; ; count += 1) {
    const path = join(folder, `${DAMAGED_PREFIX}${stamp}${count === 1 ? '' : `-${count}`}${EXTENSION}`);
    if (!existsSync(path)) return path;
  }
}
