import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { namesWithLeftovers, renameOver, writeAside } from '../lib/disk.js';

let top: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'hi-aside-'));
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const OPTIONS = { mode: 0o600, synced: true };

describe('a file written aside', () => {
  it('has the requested mode if it is new, keeps its mode otherwise, and leaves no temporary file', () => {
    const path = join(top, 'file');
    writeAside(path, 'one', OPTIONS);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    chmodSync(path, 0o664);
    writeAside(path, 'two', OPTIONS);
    expect(statSync(path).mode & 0o777).toBe(0o664);
    expect(readFileSync(path, 'utf8')).toBe('two');
    writeAside(path, 'three', { ...OPTIONS, private: true });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(top)).toEqual(['file']);
  });

  it('leaves FILE.new alone, and the temporary files of other processes, which have other names', () => {
    writeFileSync(join(top, 'file.new'), 'of an older version');
    writeFileSync(join(top, `file.${process.pid + 1}.new`), 'of another process');
    writeAside(join(top, 'file'), 'mine', OPTIONS);
    expect(readFileSync(join(top, 'file.new'), 'utf8')).toBe('of an older version');
    expect(readFileSync(join(top, `file.${process.pid + 1}.new`), 'utf8')).toBe('of another process');
    expect(readFileSync(join(top, 'file'), 'utf8')).toBe('mine');
  });

  it('replaces the target of a chain of links, even if it does not exist yet', () => {
    mkdirSync(join(top, 'real', 'inner'), { recursive: true });
    symlinkSync('real/inner', join(top, 'folder'));
    symlinkSync('../target', join(top, 'real', 'inner', 'second'));
    symlinkSync('folder/second', join(top, 'first'));
    for (const text of ['new', 'changed']) {
      writeAside(join(top, 'first'), text, OPTIONS);
      expect(readFileSync(join(top, 'real', 'target'), 'utf8')).toBe(text);
    }
    expect(lstatSync(join(top, 'first')).isSymbolicLink()).toBe(true);
    expect(lstatSync(join(top, 'real', 'inner', 'second')).isSymbolicLink()).toBe(true);
    expect(readdirSync(join(top, 'real')).sort()).toEqual(['inner', 'target']);
  });

  it('is not written if a link leads to a missing folder, or in a circle', () => {
    symlinkSync('away/target', join(top, 'gone'));
    symlinkSync('circle', join(top, 'circle'));
    expect(() => writeAside(join(top, 'gone'), 'x', OPTIONS)).toThrow('ENOENT');
    expect(() => writeAside(join(top, 'circle'), 'x', OPTIONS)).toThrow('ELOOP');
    expect(readdirSync(top).sort()).toEqual(['circle', 'gone']);
  });

  it('leaves the old one unchanged if it fails, and no temporary file', () => {
    mkdirSync(join(top, 'folder'));
    expect(() => writeAside(join(top, 'folder'), 'x', OPTIONS)).toThrow(/EISDIR|EEXIST|ENOTEMPTY/);
    expect(readdirSync(top)).toEqual(['folder']);
  });

  it('has a unique temporary name, which is recognised after a kill', () => {
    const names = namesWithLeftovers('skills\\.json');
    for (const name of ['skills.json', 'skills.json.123.new', 'skills.json.123.tmp', 'skills.json.new']) {
      expect(names.test(name)).toBe(true);
    }
    for (const name of ['skills.json.bak', 'my-skills.json', 'skillsxjson', 'skills.json.new.txt', 'skills.json.1']) {
      expect(names.test(name)).toBe(false);
    }
  });

  it('may have the longest name that file systems allow', () => {
    const path = join(top, 'ü'.repeat(127));
    writeFileSync(path, 'one');
    writeAside(path, 'two', OPTIONS);
    expect(readFileSync(path, 'utf8')).toBe('two');
  });
});

describe('a file that another program has open on Windows', () => {
  const busy = Object.assign(new Error('EPERM'), { code: 'EPERM', syscall: 'rename', errno: -1 });

  it('is replaced as soon as it is closed', () => {
    let [tries, waited] = [0, 0];
    const rename = (): void => {
      tries += 1;
      if (tries < 4) throw busy;
    };
    const pause = (time: number): void => {
      waited += time;
    };
    renameOver('a', 'b', { platform: 'win32', rename, pause });
    expect([tries, waited]).toEqual([4, 60]);
  });

  it.each(['win32', 'linux'] as const)(
    'is waited for no longer than a second, and not at all elsewhere: %s',
    (platform) => {
      let waited = 0;
      const rename = (): void => {
        throw busy;
      };
      const pause = (time: number): void => {
        waited += time;
      };
      expect(() => renameOver('a', 'b', { platform, rename, pause })).toThrow('EPERM');
      expect(waited).toBe(platform === 'win32' ? 1000 : 0);
    },
  );
});
