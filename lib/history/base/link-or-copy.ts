import { closeSync, copyFileSync, fsyncSync, linkSync, openSync } from 'node:fs';

/** Gives a file a second name, or makes a copy, on disk when this returns, where the file system knows no second names. */
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
