import {
  lstatSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { identityOf, judgedPlace } from '../../../lib/permission/paths/resolve-path.js';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hi-judged-')));
});
afterEach(() => rmSync(folder, { recursive: true }));

const at = (name: string): string => join(folder, name);

describe('the place that was judged', () => {
  it('is where a path leads, with what tells that file and its content from others', async () => {
    writeFileSync(at('file'), 'four');
    utimesSync(at('file'), 1, 1);
    symlinkSync('file', at('link'));
    const found = lstatSync(at('file'), { bigint: true });
    const expected = { path: at('file'), file: `${found.dev}:${found.ino}`, content: '4:1000000000' };
    expect([await judgedPlace('link', folder), await judgedPlace(at('file'), '/')]).toEqual([expected, expected]);
    expect(identityOf(found)).toBe(expected.file);
  });

  it('is another after the file is replaced, and has other content after it is changed', async () => {
    writeFileSync(at('file'), 'one');
    const before = await judgedPlace('file', folder);
    writeFileSync(at('file'), 'other');
    const changed = await judgedPlace('file', folder);
    expect([changed.file === before.file, changed.content === before.content]).toEqual([true, false]);
    writeFileSync(at('next'), 'other');
    renameSync(at('next'), at('file'));
    expect((await judgedPlace('file', folder)).file).not.toBe(before.file);
  });

  it('is only a path where there is no file', async () => {
    symlinkSync('loop', at('loop'));
    symlinkSync('gone', at('link'));
    const none = { file: null, content: null };
    expect(await judgedPlace('none', folder)).toEqual({ path: at('none'), ...none });
    expect(await judgedPlace('link', folder)).toEqual({ path: at('gone'), ...none });
    expect(await judgedPlace('x\0y', folder)).toEqual({ path: at('x\0y'), ...none });
    expect(await judgedPlace('loop/x', folder)).toEqual({ path: at('loop/x'), ...none });
  });
});
