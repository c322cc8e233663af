import { closeSync, copyFileSync, fsyncSync, linkSync, openSync } from 'node:fs';

/** Makes a hard link, or a copy if the file system has no hard links. It is on disk when this returns. */
export function linkOrCopy(path: string, name: string): void {
  try {
    linkSync(path, name);
  } catch {
    copyFileSync(path, name);
    const file = openSync(name, 'r+');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }
}
