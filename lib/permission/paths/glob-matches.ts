import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ANYTHING,
  escapeGlob,
  expandBraces,
  fixedName,
  matchesName,
  type NamePattern,
  namePattern,
} from '../glob/glob.js';
import type { ShellWord } from '../shell/shell-word.js';
import { absolutePath } from './resolve-path.js';

/** More names than this are not compared. */
const MAX_NAMES = 5000;

/** What is known of a word that bash replaces by names or values, as a pattern; null where that is nothing. */
export function knownPattern({ value, pattern }: ShellWord): string | null {
  if (value !== null || pattern === undefined) return null;
  const steps = pattern.split('/').filter((step) => !/^\.{0,2}$/.test(step));
  return pattern.includes(ANYTHING) && steps.every((step) => step === ANYTHING) ? null : pattern;
}

/** The paths that bash would find for a pattern, seen from `folder`; null where there are too many names to tell. */
export async function globMatches(pattern: string, folder: string): Promise<readonly string[] | null> {
  // A range such as `{a..z}` is taken for any name at all.
  const words = expandBraces(pattern, (inside) => (inside.includes('..') ? ANYTHING : inside));
  if (words === null) return null;
  const found: (readonly string[])[] = [];
  for (const word of words) {
    const matched = await pathsMatching(word, folder);
    if (matched === null) return null;
    found.push(matched);
  }
  return found.flat();
}

async function pathsMatching(pattern: string, folder: string): Promise<readonly string[] | null> {
  let found: readonly string[] = ['/'];
  let names = 0;
  for (const step of absolutePath(pattern, escapeGlob(folder)).split('/')) {
    if (step === '') continue;
    const wanted = namePattern(step);
    const name = fixedName(wanted);
    if (name !== null) {
      found = found.map((path) => join(path, name));
      continue;
    }
    const next: string[] = [];
    for (const path of found) {
      const listed = await readdir(path).catch(() => []);
      names += listed.length;
      if (names > MAX_NAMES) return null;
      for (const entry of listed) if (matchesListed(wanted, step, entry)) next.push(join(path, entry));
    }
    found = next;
  }
  return found;
}

const isPlain = (pattern: string): boolean => !/[[\]{}/]/.test(pattern);

/** Whether a name fits a pattern that a program is given, `*.ts`, in small letters or not. True for patterns that are not understood. */
export function mayMatchName(pattern: string, name: string): boolean {
  return !isPlain(pattern) || matchesName(namePattern(pattern.toLowerCase()), name.toLowerCase());
}

/** The same where it has to be certain. */
export function surelyMatchesName(pattern: string, name: string): boolean {
  return isPlain(pattern) && matchesName(namePattern(pattern), name);
}

/** Bash finds a hidden name only where the dot is written. */
function matchesListed(pattern: NamePattern, step: string, name: string): boolean {
  const mayBeHidden = step.startsWith('.') || step.startsWith('\\.') || step.startsWith(ANYTHING);
  return (mayBeHidden || !name.startsWith('.')) && matchesName(pattern, name);
}
