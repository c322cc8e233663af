import { existsSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { readRegularFile, requireRegularFile } from '../../regular-file.js';
import { fingerprintOf } from './heartbeat.js';
import { bootId } from './process-name.js';

/** The fingerprint of a file and when it was first seen, in milliseconds since boot. */
type Observation = readonly [fingerprint: string, since: number];
type Observations = Readonly<Record<string, Observation>>;

/**
 * How long, in milliseconds, these files of the folder have been unchanged, by this machine's clock and across its processes.
 * Never waits: a file that is seen for the first time counts as unchanged for 0 ms, and so does every file if nothing can be written.
 */
export function unchangedFor(folder: string, names: readonly string[]): ReadonlyMap<string, number> {
  if (names.length === 0) return new Map();
  const path = join(folder, 'history.seen');
  const all = read(path);
  const now = Math.round(uptime() * 1000);
  const known = all[bootId()] ?? {};
  const seen: Record<string, Observation> = {};
  for (const name of names) {
    const fingerprint = fingerprintOf(join(folder, name));
    if (fingerprint === null) continue;
    const before = known[name];
    seen[name] = before?.[0] === fingerprint && before[1] <= now ? before : [fingerprint, now];
  }
  write(path, withoutGone(folder, { ...all, [bootId()]: { ...known, ...seen } }), all);
  return new Map(Object.entries(seen).map(([name, [, since]]) => [name, now - since]));
}

function read(path: string): Readonly<Record<string, Observations>> {
  try {
    const value: unknown = JSON.parse(readRegularFile(path).toString());
    return isObservationFile(value) ? value : {};
  } catch {
    return {};
  }
}

function isObservationFile(value: unknown): value is Readonly<Record<string, Observations>> {
  const objects = (some: unknown): some is object => typeof some === 'object' && some !== null;
  if (!objects(value)) return false;
  return Object.values(value).every(
    (seen) => objects(seen) && Object.values(seen).every((one) => Array.isArray(one) && typeof one[1] === 'number'),
  );
}

/** Without the files that are gone. */
function withoutGone(
  folder: string,
  all: Readonly<Record<string, Observations>>,
): Readonly<Record<string, Observations>> {
  const there = (seen: Observations): Observations =>
    Object.fromEntries(Object.entries(seen).filter(([name]) => existsSync(join(folder, name))));
  const kept = Object.entries(all).map(([place, seen]) => [place, there(seen)] as const);
  return Object.fromEntries(kept.filter(([, seen]) => Object.keys(seen).length > 0));
}

function write(path: string, all: object, before: object): void {
  const text = JSON.stringify(all);
  if (text === JSON.stringify(before)) return;
  try {
    requireRegularFile(path);
    writeFileSync(path, text, { mode: 0o600 });
  } catch {
    // The owners of these files then count as alive.
  }
}
