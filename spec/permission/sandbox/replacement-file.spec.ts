import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { replacementFile } from '../../../lib/permission/sandbox/replacement-file.js';

let top: string;
let folder: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'hi-replacement-'));
  folder = join(top, 'spill');
});
afterEach(() => rmSync(top, { recursive: true }));

describe('the file that commands see instead of another', () => {
  it('has the text, in a folder and a file that nobody else may read', () => {
    const path = replacementFile(folder, 'größer\n');
    expect(readFileSync(path, 'utf8')).toBe('größer\n');
    expect([folder, path].map((one) => (statSync(one).mode & 0o777).toString(8))).toEqual(['700', '600']);
  });

  it('is named like a saved output of long ago, by its text', () => {
    const names = ['', 'a', 'b', 'a'].map((text) => basename(replacementFile(folder, text)));
    expect(names).toEqual(
      // The beginning of `printf a | sha256sum`.
      ['000000', 'ca9781', '3e23e8', 'ca9781'].map((end) => `1970-01-01T00-00-00-000Z-${end}.stdout`),
    );
  });

  it('is written once, and again where it no longer has the text', () => {
    const path = replacementFile(folder, 'a');
    const { mtimeMs, ctimeMs } = statSync(path);
    replacementFile(folder, 'a');
    expect([statSync(path).mtimeMs, statSync(path).ctimeMs]).toEqual([mtimeMs, ctimeMs]);
    writeFileSync(path, 'changed');
    expect(readFileSync(replacementFile(folder, 'a'), 'utf8')).toBe('a');
  });
});
