import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { complete, insertCommonPrefix } from '../../../lib/repl/editing/completion.js';
import { bufferOf } from '../../../lib/repl/editing/edit-buffer.js';

let cwd = '';
const { PATH } = process.env;

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'hi-completion-'));
  for (const folder of ['sub/deep', 'node_modules/inner', '.hidden', 'bin'])
    mkdirSync(join(cwd, folder), { recursive: true });
  for (const file of [
    'sub/inner.txt',
    'sub/deep/inner-part.ts',
    'node_modules/inner/inner.js',
    '.hidden/inner',
    'two words.txt',
    'notes.md',
  ])
    writeFileSync(join(cwd, file), '');
  writeFileSync(join(cwd, 'bin/hi-spec-program'), '#!/bin/sh\n');
  chmodSync(join(cwd, 'bin/hi-spec-program'), 0o755);
  writeFileSync(join(cwd, 'bin/hi-spec-text'), '');
  process.env.PATH = join(cwd, 'bin');
});

afterAll(() => {
  process.env.PATH = PATH;
  rmSync(cwd, { recursive: true, force: true });
});

/** The line after Tab, and what is listed where that changes nothing. */
async function tab(line: string): Promise<string | readonly string[]> {
  const buffer = bufferOf(line);
  const completion = await complete(line, { commands: [], cwd: { now: cwd }, home: join(cwd, 'sub') });
  return insertCommonPrefix(buffer, completion)?.text ?? completion.candidates.map(({ text }) => text);
}

describe('completion', () => {
  it.each([
    ['see @not', 'see @notes.md '],
    ['see @two', 'see @"two words.txt" '],
    ['see @sub/', ['sub/deep/', 'sub/inner.txt ']],
    ['see @inner.t', 'see @sub/inner.txt '],
    ['see @deppart', 'see @sub/deep/inner-part.ts '],
    ['see @inn', ['sub/inner.txt ', 'sub/deep/inner-part.ts ']],
    ['see @qqq', []],
    ['see @../qqq', []],
  ])('of %j after @', async (line, shown) => {
    expect(await tab(line)).toEqual(shown);
  });

  it.each([
    ['!hi-spec', '!hi-spec-program '],
    ['!!hi-spec', '!!hi-spec-program '],
    ['!ls | hi-sp', '!ls | hi-spec-program '],
    ['!A=1 hi-sp', '!A=1 hi-spec-program '],
    ['!cat not', '!cat notes.md '],
    ['!cat two', '!cat two\\ words.txt '],
    ['!cat two\\ w', '!cat two\\ words.txt '],
    ['!cat <not', '!cat <notes.md '],
    ['!bin/hi-spec-t', '!bin/hi-spec-text '],
    ['!cat ~/inn', '!cat ~/inner.txt '],
    ['!', []],
  ])('of %j in a shell command', async (line, shown) => {
    expect(await tab(line)).toEqual(shown);
  });
});
