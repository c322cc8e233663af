import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { applyPatch } from 'diff';
import type { JsonObject } from '../../lib/chat/json.js';
import type { Permit } from '../../lib/tools/common/tool.js';
import { OpenableFile } from '../../lib/tools/files/judged-file.js';
import { changePreview } from '../../lib/tools/files/replace-file.js';
import { listFiles } from '../../lib/tools/list-files.js';
import { readFile } from '../../lib/tools/read-file.js';
import { writeFile } from '../../lib/tools/write-file.js';
import fc from '../support/properties.js';
import { type Bench, bench } from '../support/tool-runner.js';

let place: Bench;
beforeEach(() => {
  place = bench();
});
afterEach(() => place.remove());

const file = (name: string) => join(place.folder, name);
const quiet = () => {};
const permit = async (path: string): Promise<Permit> => ({
  file: await OpenableFile.at(resolve(place.folder, path), path),
  confined: null,
});
const { signal } = new AbortController();
const read = async (
  path: string,
  range: { offset?: number; limit?: number } = {},
  outputLimit = 30_000,
): Promise<JsonObject> =>
  readFile.run({ path, ...range }, { ...place.context, outputLimit }, quiet, signal, await permit(path));

describe('read_file', () => {
  it('reads a whole file, byte for byte', async () => {
    writeFileSync(file('a'), 'one\r\ntwo\n\nlast');
    expect(await read('a')).toEqual({ content: 'one\r\ntwo\n\nlast', total_lines: 4 });
    writeFileSync(file('empty'), '');
    expect(await read('empty')).toEqual({ content: '', total_lines: 0 });
  });

  it('reads a range of lines and says how to continue', async () => {
    writeFileSync(file('a'), Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`).join(''));
    expect(await read('a', { offset: 3, limit: 2 })).toEqual({
      content: 'line 3\nline 4\n',
      total_lines: 10,
      truncated: true,
      next_offset: 5,
      note: 'Use offset=5 to continue.',
    });
    expect(await read('a', { offset: 9 })).toEqual({ content: 'line 9\nline 10\n', total_lines: 10 });
    await expect(read('a', { offset: 11 })).rejects.toThrow("Cannot start at line 11: 'a' has only 10 lines.");
  });

  it('reads any text completely in pieces of whole lines', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ maxLength: 30 }), { maxLength: 40 }),
        fc.integer({ min: 35, max: 100 }),
        async (lines, limit) => {
          const text = lines
            .map((line) => `${line}\n`)
            .join('')
            .replaceAll('\0', '');
          writeFileSync(file('a'), text);
          let whole = '';
          let offset: number | undefined = 1;
          while (offset !== undefined) {
            const piece: JsonObject = await read('a', { offset }, limit);
            whole += String(piece.content);
            offset = typeof piece.next_offset === 'number' ? piece.next_offset : undefined;
          }
          expect(whole).toBe(text);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('keeps to the limit and points to the rest, even within one long line', async () => {
    writeFileSync(file('lines'), 'x'.repeat(99).concat('\n').repeat(1000));
    const cut = await read('lines', {}, 1050);
    expect(cut).toMatchObject({ total_lines: 1000, truncated: true, next_offset: 11 });
    expect(String(cut.content)).toHaveLength(1000);
    writeFileSync(file('line'), 'x'.repeat(5000));
    expect(await read('line', {}, 1000)).toMatchObject({
      content: 'x'.repeat(1000),
      note: expect.stringContaining('Line 1 is too long'),
    });
  });

  it.each([
    ['utf-8', Buffer.from('Grüße, 世界 🌍\n')],
    ['utf-8', Buffer.from('\ufeffGrüße, 世界 🌍\n')],
    ['utf-16le', Buffer.from('\ufeffGrüße, 世界 🌍\n', 'utf16le')],
    ['utf-16be', Buffer.from('\ufeffGrüße, 世界 🌍\n', 'utf16le').swap16()],
  ])('decodes %s', async (name, bytes) => {
    writeFileSync(file('a'), bytes);
    expect(await read('a')).toEqual({
      content: 'Grüße, 世界 🌍\n',
      total_lines: 1,
      ...(name === 'utf-8' ? {} : { encoding: name }),
    });
  });

  it('guesses legacy encodings', async () => {
    writeFileSync(file('a'), Buffer.from('Die Straße führt über die Brücke, schön wäre es im Frühling.\n', 'latin1'));
    expect(await read('a')).toMatchObject({
      content: expect.stringContaining('Straße führt über'),
      encoding: expect.any(String),
    });
    writeFileSync(file('b'), Buffer.from('hällö wörld üß\n', 'latin1'));
    expect(await read('b')).toMatchObject({ content: 'hällö wörld üß\n', encoding: 'windows-1252' });
  });

  it('decodes characters at the boundary of a block', async () => {
    const text = 'a'.concat('世'.repeat(60_000));
    writeFileSync(file('a'), text);
    expect((await read('a', {}, 100_000)).content).toBe(text);
  });

  it('reports binary content', async () => {
    writeFileSync(file('a'), Buffer.from([0, 1, 2, 3, 250]));
    expect(await read('a')).toEqual({
      content: '(binary content, not shown: binary file, 5 bytes)',
      binary: true,
      bytes: 5,
    });
    writeFileSync(file('z'), Buffer.from('1f8b08aabb', 'hex'));
    expect(await read('z')).toMatchObject({ content: expect.stringContaining('gzip archive') });
  });

  it.each([
    ['89504e470d0a1a0a00', 'PNG image'],
    ['ffd8ffe000', 'JPEG image'],
    ['5249464600000000574542505650', 'WebP image'],
    ['255044462d312e37', 'PDF document'],
  ])('refuses %s and says how the user can show a %s', async (bytes, what) => {
    writeFileSync(file('a'), Buffer.from(bytes, 'hex'));
    await expect(read('a')).rejects.toThrow(`'a' is a ${what}`);
    await expect(read('a')).rejects.toThrow('@a');
  });

  it('names the nearest file if there is none, and refuses folders and pipes', async () => {
    writeFileSync(file('readme.md'), '');
    await expect(read('redme.md')).rejects.toThrow("Did you mean 'readme.md'?");
    await expect(read('.')).rejects.toThrow('is a folder; list it with list_files');
    await expect(read('/dev/zero')).rejects.toThrow('not a regular file');
  });
});

describe('list_files', () => {
  const list = async (path: string) => listFiles.run({ path }, place.context, quiet, signal, await permit(path));

  it('lists names in order, even hidden ones, folders with a slash', async () => {
    mkdirSync(file('b'));
    writeFileSync(file('a'), '');
    writeFileSync(file('.hidden'), '');
    symlinkSync('b', file('link'));
    symlinkSync('none', file('broken'));
    expect(await list('.')).toEqual({ entries: ['.hidden', 'a', 'b/', 'broken', 'link/'] });
    expect(await list('b')).toEqual({ entries: [] });
  });

  it('lists the first thousand of many and the total', async () => {
    for (let index = 0; index < 1200; index += 1) writeFileSync(file(`f${index}`), '');
    const { entries, ...rest } = await list('.');
    expect(Array.isArray(entries) && entries.length).toBe(1000);
    expect(rest).toMatchObject({ total: 1200, truncated: true, note: expect.stringContaining('1000 of 1200') });
  });

  it('reports what is wrong with the path', async () => {
    writeFileSync(file('a'), '');
    await expect(list('none')).rejects.toThrow("There is no folder 'none'.");
    await expect(list('a')).rejects.toThrow("'a' is a file; read it with read_file.");
  });
});

describe('write_file', () => {
  const write = async (path: string, content: string) =>
    writeFile.run({ path, content }, place.context, quiet, signal, await permit(path));

  it('creates parent folders, and leaves no temporary file', async () => {
    expect(await write('a/b/c.txt', 'é\n')).toEqual({ success: true, created: true });
    expect(readFileSync(file('a/b/c.txt'), 'utf8')).toBe('é\n');
    expect(readdirSync(file('a/b'))).toEqual(['c.txt']);
  });

  it('keeps the mode of a file and writes through a link', async () => {
    writeFileSync(file('run.sh'), 'old');
    chmodSync(file('run.sh'), 0o750);
    symlinkSync('run.sh', file('link'));
    expect(await write('link', 'new')).toEqual({ success: true });
    expect([readFileSync(file('run.sh'), 'utf8'), statSync(file('run.sh')).mode & 0o777]).toEqual(['new', 0o750]);
    expect(lstatSync(file('link')).isSymbolicLink()).toBe(true);
  });

  it('says why it cannot write', async () => {
    writeFileSync(file('a'), '');
    await expect(write('a/b', 'x')).rejects.toThrow('one of its parent folders is a file');
    await expect(write('.', 'x')).rejects.toThrow('is a folder');
    await expect(write('/dev/null', 'x')).rejects.toThrow('is not a regular file');
    await expect(write(`${'x'.repeat(300)}`, 'x')).rejects.toThrow('its name is too long');
  });

  it('never shows half a file to readers', async () => {
    const sizes = new Set<number>();
    writeFileSync(file('a'), 'x'.repeat(1_000_000));
    const writing = write('a', 'y'.repeat(2_000_000));
    for (let look = 0; look < 20; look += 1) {
      sizes.add(statSync(file('a')).size);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writing;
    expect([...sizes].filter((size) => size !== 1_000_000 && size !== 2_000_000)).toEqual([]);
  });
});

describe('the preview of a change', () => {
  it('is a unified diff that can be applied', async () => {
    writeFileSync(file('a'), 'one\ntwo\nthree\n');
    const diff = await changePreview(file('a'), 'one\n2\nthree\nfour\n');
    expect(diff).toContain('-two\n+2\n');
    expect(applyPatch('one\ntwo\nthree\n', diff)).toBe('one\n2\nthree\nfour\n');
  });

  it('shows a new file as a diff from nothing', async () => {
    expect(await changePreview(file('new'), 'a\n')).toContain('--- /dev/null');
  });

  it('describes in one sentence what a diff cannot show, with the new content', async () => {
    writeFileSync(file('binary'), Buffer.from([0, 1, 2]));
    writeFileSync(file('same'), 'a');
    expect(await changePreview(file('binary'), 'a')).toBe(
      'The binary file of 3 bytes would be replaced by 1 line (1 character).\n\n+a',
    );
    expect(await changePreview(file('same'), 'a')).toBe('No changes.');
    expect(await changePreview(file('new'), 'a'.repeat(3_000_000))).toContain('Too large for a diff');
  });
});
