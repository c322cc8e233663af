import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const LIB = resolve(import.meta.dirname, '..', 'lib');
const MOST_LINES = 400;

/** A member has the name by which the user or the model calls it, whatever else has it. */
const PLUG_IN_FOLDERS = ['books/sources', 'compaction', 'providers', 'slash', 'tools'];

const FILES = readdirSync(LIB, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(LIB, join(entry.parentPath, entry.name)));
const NAMED = FILES.filter((file) => basename(file) !== 'index.ts');
const isMember = (file: string): boolean => PLUG_IN_FOLDERS.includes(dirname(file));

/** How often each of the words occurs. */
function counted(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

describe('the files of lib', () => {
  it('are short', () => {
    const linesOf = (file: string): number => readFileSync(join(LIB, file), 'utf8').split('\n').length - 1;
    const long = FILES.map((file) => [file, linesOf(file)] as const).filter(([, lines]) => lines > MOST_LINES);
    expect(long).toEqual([]);
  });

  it('have no comment wider than a screen of 120 columns', () => {
    const isWide = (line: string): boolean => line.length > 120 && /^\s*(?:\/\/|\/?\*)/.test(line);
    const wide = FILES.filter((file) => readFileSync(join(LIB, file), 'utf8').split('\n').some(isWide));
    expect(wide).toEqual([]);
  });

  it('have unique names, except for the members of a plug-in folder', () => {
    const counts = counted(NAMED.filter((file) => !isMember(file)).map((file) => basename(file)));
    expect([...counts].filter(([, count]) => count > 1)).toEqual([]);
  });
});
