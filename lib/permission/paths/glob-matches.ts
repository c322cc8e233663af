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
import { shouldYield, yieldToEvents } from './yield-to-events.js';

/** A pattern is not expanded when its folders have more names than this. */
const MAX_NAMES = 5000;

/** The pattern for a word whose value is not known; null if it would match everything. */
export function knownPattern({ value, pattern }: ShellWord): string | null {
  if (value !== null || pattern === undefined) return null;
  const steps = pattern.split('/').filter((step) => !/^\.{0,2}$/.test(step));
  return pattern.includes(ANYTHING) && steps.every((step) => step === ANYTHING) ? null : pattern;
}

/** The paths that bash expands a pattern to, relative to `folder`; null if there are too many names. */
export async function globMatches(
  pattern: string,
  folder: string,
  signal?: AbortSignal,
): Promise<readonly string[] | null> {
  // A range such as `{a..z}` counts as any name.
  const words = expandBraces(pattern, (inside) => (inside.includes('..') ? ANYTHING : inside));
  if (words === null) return null;
  const found: (readonly string[])[] = [];
  for (const word of words) {
    const matched = await pathsMatching(word, folder, signal);
    if (matched === null) return null;
    found.push(matched);
  }
  return found.flat();
}

async function pathsMatching(
  pattern: string,
  folder: string,
  signal: AbortSignal | undefined,
): Promise<readonly string[] | null> {
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
      for (const entry of listed) {
        if (shouldYield()) await yieldToEvents(signal);
        if (matchesListed(wanted, step, entry)) next.push(join(path, entry));
      }
    }
    found = next;
  }
  return found;
}

const isPlain = (pattern: string): boolean => !/[[\]{}/]/.test(pattern);

/** Whether a name may match a pattern in a program's arguments, such as `*.ts`. Case is ignored, and a pattern that cannot be parsed matches. */
export function mayMatchName(pattern: string, name: string): boolean {
  return !isPlain(pattern) || matchesName(namePattern(pattern.toLowerCase()), name.toLowerCase());
}

/** Whether a name certainly matches. */
export function surelyMatchesName(pattern: string, name: string): boolean {
  return isPlain(pattern) && matchesName(namePattern(pattern), name);
}

/** Bash matches a hidden name only if the pattern begins with a dot. */
function matchesListed(pattern: NamePattern, step: string, name: string): boolean {
  const mayBeHidden = step.startsWith('.') || step.startsWith('\\.') || step.startsWith(ANYTHING);
  return (mayBeHidden || !name.startsWith('.')) && matchesName(pattern, name);
}
