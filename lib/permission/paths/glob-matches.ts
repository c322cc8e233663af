import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ShellWord } from '../shell/shell-word.js';
import { ANYTHING } from '../shell/word-pattern.js';
import { absolutePath } from './resolve-path.js';

/** More names than this are not compared. */
const MOST_NAMES = 5000;

/** More names than this are not put together from `{a,b}`. */
const MOST_SPREAD = 200;

/** What is known of a word that bash replaces by names or values, as a pattern; null where that is nothing. */
export function knownPattern({ value, pattern }: ShellWord): string | null {
  if (value !== null || pattern === undefined) return null;
  const steps = pattern.split('/').filter((step) => !/^\.{0,2}$/.test(step));
  return pattern.includes(ANYTHING) && steps.every((step) => step === ANYTHING) ? null : pattern;
}

/** The paths that bash would find for a pattern, seen from `folder`; null where there are too many names to tell. */
export async function globMatches(pattern: string, folder: string): Promise<readonly string[] | null> {
  const spread = spreadBraces([pattern]);
  if (spread === null) return null;
  const found: (readonly string[])[] = [];
  for (const one of spread) {
    const matched = await oneGlob(one, folder);
    if (matched === null) return null;
    found.push(matched);
  }
  return found.flat();
}

/** The words bash makes of `{a,b}`; a range such as `{a..z}` is any name at all. Null where there are too many. */
function spreadBraces(words: readonly string[]): readonly string[] | null {
  if (words.length > MOST_SPREAD) return null;
  const next = words.flatMap((word) => {
    const [group, inside = ''] = GROUP.exec(word) ?? [];
    if (group === undefined) return [word];
    const pieces = inside.split(/(?<!\\),/);
    const range = pieces.length === 1 && inside.includes('..');
    return (range ? [ANYTHING] : pieces).map((piece) => word.replace(group, () => piece));
  });
  return next.some((word) => GROUP.test(word)) ? spreadBraces(next) : next;
}

const GROUP = /(?<!\\)\{((?:[^{}\\]|\\.)*)\}/;

async function oneGlob(pattern: string, folder: string): Promise<readonly string[] | null> {
  let found: readonly string[] = ['/'];
  let names = 0;
  for (const step of absolutePath(pattern, folder.replace(/[\\*?{}]/g, '\\$&')).split('/')) {
    if (step === '') continue;
    const tokens = tokensOf(step);
    if (tokens.every((token) => token.kind === 'character')) {
      const name = tokens.map(({ text }) => text).join('');
      found = found.map((path) => join(path, name));
      continue;
    }
    const next: string[] = [];
    for (const path of found) {
      const inside = await readdir(path).catch(() => []);
      names += inside.length;
      if (names > MOST_NAMES) return null;
      for (const name of inside) if (matches(tokens, name)) next.push(join(path, name));
    }
    found = next;
  }
  return found;
}

const isPlain = (pattern: string): boolean => !/[[\]{}/]/.test(pattern);

/** Whether a name fits a pattern that a program is given, `*.ts`, in small letters or not. True for patterns that are not understood. */
export function mayFit(pattern: string, name: string): boolean {
  return !isPlain(pattern) || fits(tokensOf(pattern.toLowerCase()), name.toLowerCase());
}

/** The same where it has to be certain. */
export function surelyFits(pattern: string, name: string): boolean {
  return isPlain(pattern) && fits(tokensOf(pattern), name);
}

interface Token {
  readonly kind: 'character' | 'any one' | 'any';
  readonly text: string;
}

function tokensOf(step: string): readonly Token[] {
  return [...step.matchAll(/\\(.)|./gsu)].map(([text, quoted]): Token => {
    if (quoted !== undefined) return { kind: 'character', text: quoted };
    if (text === '?') return { kind: 'any one', text };
    return { kind: text === '*' || text === ANYTHING ? 'any' : 'character', text };
  });
}

/** Bash finds a hidden name only where the dot is written. */
function matches(tokens: readonly Token[], name: string): boolean {
  const [first] = tokens;
  const mayHide = first?.text === '.' || first?.text === ANYTHING;
  return (mayHide || !name.startsWith('.')) && fits(tokens, name);
}

// A regular expression would take for ever with many `*` and a long name.
function fits(tokens: readonly Token[], name: string): boolean {
  const characters = [...name];
  let [token, position, star, mark] = [0, 0, -1, 0];
  while (position < characters.length) {
    const { kind, text } = tokens[token] ?? NO_TOKEN;
    if (kind === 'any') {
      star = token;
      mark = position;
      token += 1;
    } else if (kind === 'any one' || text === characters[position]) {
      token += 1;
      position += 1;
    } else if (star !== -1) {
      mark += 1;
      token = star + 1;
      position = mark;
    } else return false;
  }
  return tokens.slice(token).every(({ kind }) => kind === 'any');
}

/** Behind the last one. No character is like it. */
const NO_TOKEN: Token = { kind: 'character', text: '' };
