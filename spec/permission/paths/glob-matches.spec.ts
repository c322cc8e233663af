import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ANYTHING } from '../../../lib/permission/glob/glob.js';
import {
  globMatches,
  knownPattern,
  mayMatchName,
  surelyMatchesName,
} from '../../../lib/permission/paths/glob-matches.js';
import { readCommand } from '../../../lib/permission/shell/read-command.js';

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hi-glob-[x]-')));
  for (const path of ['a.md', 'b.md', 'c.txt', '.hidden.md', 'sub/a.md', 'sub/.git/x', 'other/a.md']) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), '');
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

async function patternOf(word: string): Promise<string | null> {
  const found = (await readCommand(`cat ${word}`, {})).words[1];
  return found === undefined ? null : knownPattern(found);
}

async function matches(pattern: string, below = folder): Promise<readonly string[] | null> {
  const found = await globMatches(pattern, below);
  return found === null ? null : found.map((path) => path.replace(`${folder}/`, '')).sort();
}

describe('a word of unknown value', () => {
  it.each([
    ['x', null],
    ['$X', null],
    ['$X/$Y', null],
    ['/$X', null],
    ['./$X/..', null],
    ['*', '*'],
    ['*.md', '*.md'],
    ['src/$X', `src/${ANYTHING}`],
    ['$X/src', `${ANYTHING}/src`],
    ['$X.md', `${ANYTHING}.md`],
  ])('has a pattern unless it may be anything: %s', async (word, expected) => {
    expect(await patternOf(word)).toBe(expected);
  });
});

describe('the paths that a pattern matches', () => {
  it.each<[string, readonly string[]]>([
    ['*.md', ['a.md', 'b.md']],
    ['./*.md', ['a.md', 'b.md']],
    ['?.md', ['a.md', 'b.md']],
    ['*', ['a.md', 'b.md', 'c.txt', 'other', 'sub']],
    ['.*', ['.hidden.md']],
    ['\\.*.md', ['.hidden.md']],
    [`${ANYTHING}.md`, ['.hidden.md', 'a.md', 'b.md']],
    ['*/a.*', ['other/a.md', 'sub/a.md']],
    ['*/*', ['other/a.md', 'sub/a.md']],
    ['s*/.git/*', ['sub/.git/x']],
    ['{a,c}.*', ['a.md', 'c.txt']],
    ['{a..c}.md', ['.hidden.md', 'a.md', 'b.md']],
    ['none*', []],
    ['a.md/*', []],
  ])('are found as bash expands it, or more: %j', async (pattern, expected) => {
    expect(await matches(pattern)).toEqual(expected);
  });

  it('are named even if they do not exist, if the last steps have no pattern', async () => {
    expect(await matches('*/new')).toEqual(['a.md/new', 'b.md/new', 'c.txt/new', 'other/new', 'sub/new']);
    expect(await matches(`${folder.replace(/[[\]]/g, '\\$&')}/sub/*.md`, '/')).toEqual(['sub/a.md']);
  });

  it('are not listed in folders with too many names', async () => {
    const many = mkdtempSync(join(folder, 'many-'));
    for (let number = 0; number < 5000; number += 1) writeFileSync(join(many, `${number}`), '');
    expect((await matches('*', many))?.length).toBe(5000);
    writeFileSync(join(many, 'one'), '');
    expect([await matches('*', many), await matches('{none,x*}', many)]).toEqual([null, null]);
    rmSync(many, { recursive: true });
  });
});

describe('a name in the arguments of a program', () => {
  it.each([
    ['*.md', 'A.md', true, true],
    ['*.md', 'a.MD', true, false],
    ['*.MD', 'a.md', true, false],
    ['*.md', 'a.txt', false, false],
    ['a', 'a', true, true],
    ['[a].md', 'x', true, false],
    ['a]', 'x', true, false],
    ['{a}', 'a', true, false],
    ['a}', 'x', true, false],
    ['x/a', 'x', true, false],
  ])('%s and %s: may match: %s, surely matches: %s', (pattern, name, may, surely) => {
    expect([mayMatchName(pattern, name), surelyMatchesName(pattern, name)]).toEqual([may, surely]);
  });
});
