import { copyFileSync, linkSync } from 'node:fs';

/** Gives a file a second name, or makes a copy where the file system knows no second names. */
export function keepTwice(path: string, name: string): void {
  try {
    linkSync(path, name);
  } catch {
    copyFileSync(path, name);
  }
}
