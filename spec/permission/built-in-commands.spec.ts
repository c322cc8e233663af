import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { judgeWith } from '../support/judging.js';

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hi-built-in-')));
  mkdirSync(join(folder, 'sub'));
  for (const name of ['a.txt', 'b.txt', 'sub/c.txt', '.env']) writeFileSync(join(folder, name), 'word\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A judge in that folder where no sandbox works. */
const judge = (command: string, allow: readonly string[] = [], env = { PATH: '/usr/bin:/bin' }) =>
  judgeWith({ allow }, { root: folder, workingFolder: folder, hasSandbox: false, env })(command);

describe('without a rule and without a sandbox, a command', () => {
  it.each([
    'cat a.txt',
    'cat -nb a.txt b.txt',
    'cat missing.txt',
    'head -n 3 a.txt',
    'head -n3 a.txt',
    'head -3 a.txt',
    'tail -c 10 a.txt',
    'grep -in word a.txt',
    'grep -A 2 word a.txt',
    'find sub -type f -name "*.txt"',
    'find . -maxdepth 2 -not -empty -print',
    'ls',
    'ls -la sub',
    'du -sh sub',
    'stat sub a.txt',
    'cd sub',
    'cd sub && cat c.txt',
    'wc -l a.txt b.txt',
    'cut -d : -f 1 a.txt',
    'sort -t , -k 2 a.txt',
    'uniq -c a.txt',
    'diff a.txt b.txt',
    'echo -n hello /etc/passwd',
    'basename /etc/passwd',
    'cat a.txt | tr a-z A-Z | wc -c',
    'date -u',
    'pwd',
    'true',
  ])('runs when it only reads here: %s', async (command) => {
    expect(await judge(command)).toEqual({ decision: 'allow' });
  });

  it.each([
    ['a folder in place of a file', 'cat sub'],
    ['files that only a sandbox could hide', 'grep -rn word sub'],
    ['a folder without the option for it', 'grep word sub'],
    ['an option without its value', 'head -n'],
    ['an option without its value', 'cut -d'],
    ['a value that is not known', 'head -n "$count" a.txt'],
    ['an option that is not of the list', 'tail -f a.txt'],
    ['an option that is not of the list', 'cat -x a.txt'],
    ['a long option', 'ls --color'],
    ['a long option', 'cat --help'],
    ['an option that writes', 'sort -o a.txt b.txt'],
    ['an operand that is written', 'uniq a.txt b.txt'],
    ['an option that removes', 'find . -delete'],
    ['an option that runs something', 'find . -exec rm {} +'],
    ['an option that reads names from a file', 'md5sum -c a.txt'],
    ['an operand where none is taken', 'pwd sub'],
    ['an operand that sets the clock', 'date 01010000'],
    ['a second folder', 'cd sub sub'],
    ['a variable set for it', 'LANG=C cat a.txt'],
    ['a program that is not of the list', 'env'],
    ['a program named like what every object has', 'constructor a.txt'],
    ['a file outside', 'cat /etc/hosts'],
    ['a file outside, from where it goes', 'cd sub && cat ../../x'],
    ['a private file', 'cat .env'],
    ['a private file among others', 'cat a.txt .env'],
    ['a private file in a folder', 'grep -r word .'],
  ])('is asked about if it has %s: %s', async (_, command) => {
    expect((await judge(command)).decision).toBe('ask');
  });

  it.each(['bin:/usr/bin', '/usr/bin:', '/usr/bin:.'])('is asked about when PATH is %s', async (PATH) => {
    expect((await judge('ls', [], { PATH })).decision).toBe('ask');
  });

  it('is asked about if PATH contains a folder of the project', async () => {
    expect((await judge('ls', [], { PATH: `/usr/bin:${join(folder, 'bin')}` })).decision).toBe('ask');
  });

  it('runs with a rule if it only reads, and is asked about with one if it may do more', async () => {
    expect(await judge('cat /etc/hosts', ['bash(cat:*)'])).toEqual({ decision: 'allow' });
    expect(await judge('make all', ['bash(make:*)'])).toMatchObject({
      decision: 'ask',
      reason: 'there is no sandbox here, so only read-only commands run without approval',
    });
  });
});
