import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { hardLinkReason } from '../../../lib/permission/paths/judge-path.js';

let top: string;
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'hi-hard-links-')));
  make('work/plain', '');
});
afterEach(() => rmSync(top, { recursive: true }));

const at = (path: string): string => join(top, path);

function make(path: string, text: string): string {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
  return at(path);
}

const reason = (path: string, ...own: readonly string[]) => hardLinkReason(at(path), at('work'), own.map(at));

describe('a file with an ordinary name', () => {
  it.each([
    ['in the working folder', 'work/.env', []],
    ['in a private folder of it', 'work/.ssh/deep/key', []],
    ["in one of hi's own folders", 'own/deep/er/config.json', ['own']],
    ["that is one of hi's own files", 'own.json', ['gone', 'own.json']],
  ])('is private if it is the same as a private one %s', async (_where, path, own) => {
    make(`${dirname(path)}/a-first`, '');
    linkSync(make(path, 'A=1'), at('work/notes'));
    expect(await reason('work/notes', ...own)).toBe(`it is the same file as ${at(path)}, which is private`);
  });

  it('is not for having another name that is as ordinary, or the same content', async () => {
    make('work/.env', '');
    linkSync(at('work/plain'), at('work/twin'));
    expect([await reason('work/plain'), await reason('work/twin', 'own')]).toEqual([null, null]);
    make('work/src/.env', '');
    expect(await reason('work/src')).toBeNull();
  });

  it('is not looked for below links, nor is what is not there', async () => {
    symlinkSync('.', at('work/.ssh'));
    linkSync(at('work/plain'), at('work/twin'));
    expect(await reason('work/twin')).toBeNull();
    for (const path of ['work/gone', 'work', 'work/plain/x']) expect([path, await reason(path)]).toEqual([path, null]);
    expect(await hardLinkReason('', at('work'), [])).toBeNull();
    expect(await hardLinkReason(at('work/twin'), at('gone'), [at('gone')])).toBeNull();
  });

  it('is compared with no more than some thousand others', async () => {
    for (let number = 0; number < 1998; number += 1) make(`own/many/${number}`, '');
    linkSync(make('own/many/z', ''), at('work/notes'));
    expect(await reason('work/notes', 'own/many/z')).not.toBeNull();
    expect(await reason('work/notes', 'own/many')).not.toBeNull();
    make('own/many/a', '');
    make('own/many/b', '');
    rmSync(at('own/many/z'));
    linkSync(at('work/notes'), make('own/many2/z', '').replace(/z$/, 'last'));
    expect(await reason('work/notes', 'own/many', 'own/many2/last')).toBeNull();
  });
});
