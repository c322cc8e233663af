import { type Stats, statSync } from 'node:fs';

/** Whether this is the device that holds nothing. To know that it is no terminal, without loading `node:tty` and with it all of Node's streams. */
export function isNullDevice(stats: Stats): boolean {
  try {
    return stats.isCharacterDevice() && stats.rdev === statSync('/dev/null').rdev;
  } catch {
    return false;
  }
}
