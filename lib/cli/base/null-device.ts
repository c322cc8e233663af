import { type Stats, statSync } from 'node:fs';

/** Whether this is the null device, and so not a terminal. Does not load `node:tty`, which loads all of Node's streams. */
export function isNullDevice(stats: Stats): boolean {
  try {
    return stats.isCharacterDevice() && stats.rdev === statSync('/dev/null').rdev;
  } catch {
    return false;
  }
}
