import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { makeFolder } from '../lib/disk.js';

let top: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'hi-folder-'));
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

describe('a folder', () => {
  it('is created with its parents, and left unchanged if it exists', () => {
    const path = join(top, 'a', 'b', 'c');
    makeFolder(path, 0o700);
    makeFolder(path, 0o755);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(statSync(join(top, 'a')).mode & 0o777).toBe(0o700);
  });

  it('fails at once if it cannot be created', () => {
    writeFileSync(join(top, 'file'), '');
    expect(() => makeFolder(join(top, 'file', 'a', 'b'), 0o700)).toThrow('ENOTDIR');
    expect(() => makeFolder(join(top, 'file'), 0o700)).toThrow('EEXIST');
    expect(() => makeFolder('/proc/hi/a', 0o700)).toThrow(/ENOENT|EACCES|EPERM|EROFS/);
  });
});
