import { lstatSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';

/** Takes away what stood for a missing file while a command ran: the sandbox leaves an empty file in its place. */
export function removeStandIns(paths: readonly string[]): void {
  for (const path of paths) {
    try {
      const found = lstatSync(path);
      if (found.isDirectory() && readdirSync(path).length === 0) rmdirSync(path);
      else if (found.isFile() && found.size === 0) unlinkSync(path);
    } catch {
      // It is gone, or in use.
    }
  }
}

/** Renames what a command left from which other programs would run something later. Returns what is now there instead. */
export function setAside(paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => {
    for (let number = 1; number < 100; number += 1) {
      const aside = `${path}.set-aside-${number}`;
      if (lstatSync(aside, { throwIfNoEntry: false }) !== undefined) continue;
      try {
        renameSync(path, aside);
        return [aside];
      } catch {
        return [];
      }
    }
    return [];
  });
}
