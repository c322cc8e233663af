import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { absolutePath } from './places.js';
import type { ShellWord } from './shell-word.js';

/** More names than this are not compared. */
const MOST_NAMES = 5000;

/** More names than this are not put together from `{a,b}`. */
const MOST_SPREAD = 200;

/** True for a word that bash replaces by the names it finds, and in which nothing else is unknown. */
export function isGlobWord({ text, value }: ShellWord): boolean {
  return value === null && /[*?[{]/.test(text) && !/[$`"'\\()]/.test(text);
}

/** The paths that bash would find for a pattern, seen from `folder`; null where there are too many names to tell. */
export async function globMatches(pattern: string, folder: string): Promise<readonly string[] | null> {
  const spread = spreadBraces([pattern]);
  if (spread === null) return null;
  const found: string[] = [];
  for (const one of spread) {
    const matched = await oneGlob(one, folder);
    if (matched === null) return null;
    found.push(...matched);
  }
  return found;
}

/** The words bash makes of `{a,b}`; a range such as `{a..z}` is any name at all. Null where there are too many. */
function spreadBraces(words: readonly string[]): readonly string[] | null {
  if (words.length > MOST_SPREAD) return null;
  const next = words.flatMap((word) => {
    const [group, inside = ''] = /\{([^{}]*)\}/.exec(word) ?? [];
    if (group === undefined) return [word];
    const pieces = inside.includes(',') ? inside.split(',') : [inside.includes('..') ? '*' : inside];
    return pieces.map((piece) => word.replace(group, () => piece));
  });
  return next.some((word) => /\{[^{}]*\}/.test(word)) ? spreadBraces(next) : next;
}

async function oneGlob(pattern: string, folder: string): Promise<readonly string[] | null> {
  const { default: picomatch } = await import('picomatch');
  let found: readonly string[] = ['/'];
  let names = 0;
  for (const step of absolutePath(pattern, folder).split('/')) {
    if (step === '') continue;
    if (!/[*?[]/.test(step)) {
      found = found.map((path) => join(path, step));
      continue;
    }
    const matches = picomatch(step, { bash: true, noextglob: true, posix: true });
    const next: string[] = [];
    for (const path of found) {
      const inside = await readdir(path).catch(() => []);
      names += inside.length;
      if (names > MOST_NAMES) return null;
      next.push(...inside.filter((name) => matches(name)).map((name) => join(path, name)));
    }
    found = next;
  }
  return found;
}
