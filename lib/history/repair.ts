import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry } from '../chat/message.js';
import { ArrayFile } from './array-file.js';
import type { Codec } from './frames.js';
import { assertHeld } from './held.js';
import { followed, homeOf, removeConversation } from './links.js';
import { DAMAGED_PREFIX, type Paths } from './paths.js';
import { rewrite, syncFolder } from './rewrite.js';
import { keepTwice } from './twice.js';

/**
 * Writes what can be read of a damaged history as a sound one and keeps the damaged file under a dated name; returns what to tell the user.
 * Only under the lock. Throws what the system throws, the damaged file as it was.
 */
export function repair(codec: Codec, paths: Paths, log: string, now: Date): string {
  const real = followed(paths);
  const kept = freeName(paths.folder, now);
  keepTwice(real.history, kept);
  const count = sound(codec, paths, log, kept);
  if (count > 0)
    return `The history was damaged. What could be read goes on (${count} entries); the damaged file is kept as '${kept}'.`;
  assertHeld();
  removeConversation(paths, real);
  syncFolder(homeOf(real));
  return `The history was damaged and nothing in it could be read. It begins anew; the damaged file is kept as '${kept}'.`;
}

/** Writes the sound file; how many entries are in it. */
function sound(codec: Codec, paths: Paths, log: string, kept: string): number {
  const damaged = ArrayFile.open(codec, kept, true);
  try {
    return rewrite(codec, paths, log, oneByOne(damaged.all())).entries;
  } catch (thrown) {
    rmSync(kept, { force: true });
    throw thrown;
  } finally {
    damaged.close();
  }
}

function* oneByOne(groups: Iterable<readonly Entry[]>): Generator<Entry> {
  for (const entries of groups) yield* entries;
}

/** A name with the date and time, and a number when that one is taken. */
function freeName(folder: string, now: Date): string {
  const stamp = now.toISOString().slice(0, 19).replaceAll(':', '-');
  for (let count = 1; ; count += 1) {
    const path = join(folder, `${DAMAGED_PREFIX}${stamp}${count === 1 ? '' : `-${count}`}.json.zst`);
    if (!existsSync(path)) return path;
  }
}
