import { basename } from 'node:path';

/** The name of a program, whatever folder it is taken from: `/bin/RM`, where case does not matter, and `rm.exe` are `rm`. */
export function programName(word: string): string {
  return basename(word)
    .toLowerCase()
    .replace(/\.(?:exe|com|cmd|bat)$/, '');
}
