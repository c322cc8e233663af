import { basename } from 'node:path';

/** The name of a program without its folder: `rm` for `rm.exe`, and for `/bin/RM` where file names ignore case. */
export function programName(word: string): string {
  return basename(word)
    .toLowerCase()
    .replace(/\.(?:exe|com|cmd|bat)$/, '');
}
