import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { HiError } from '../../lib/errors.js';
import { type FileInput, inputFrom, readFileInput } from '../../lib/session/input.js';
import { png } from '../support/pictures.js';

const cwd = mkdtempSync(join(tmpdir(), 'hi-files-'));
const PNG = png();
const LIMIT = 20_000_000;

function read(path: string, pipes = false, signal = new AbortController().signal): Promise<FileInput> {
  return readFileInput(path, { cwd, pipes, signal });
}

function write(name: string, content: string | Buffer): string {
  writeFileSync(join(cwd, name), content);
  return name;
}

/** The message and hint of the error, without its end, which is the same for all. */
async function refusalOf(path: string, pipes = false): Promise<readonly [string, string]> {
  const error: unknown = await read(path, pipes).catch((thrown: unknown) => thrown);
  if (!(error instanceof HiError) || error.code !== 'usage') throw error;
  return [error.message, error.hint ?? ''];
}

describe('a file for the model', () => {
  it('is a block with its name if it is text', async () => {
    expect(await read(write('a.txt', 'one\ntwo\n'))).toEqual({ text: '<file name="a.txt">\none\ntwo\n</file>' });
    expect(await read(write('b "c".txt', '\none'))).toEqual({ text: '<file name="b \\"c\\".txt">\n\none\n</file>' });
  });

  it('is named by its path as given, which may be absolute', async () => {
    write('a.txt', 'x\n');
    expect(await read(join(cwd, 'a.txt'))).toEqual({ text: `<file name="${join(cwd, 'a.txt')}">\nx\n</file>` });
  });

  it('is an image or a document with its name, by its first bytes', async () => {
    expect(await read(write('cat.txt', PNG))).toEqual({
      attachment: { kind: 'image', mime: 'image/png', bytes: PNG, name: 'cat.txt' },
    });
    const pdf = Buffer.from('%PDF-1.7');
    expect(inputFrom(pdf, '/some/where/a.pdf')).toEqual({
      attachment: { kind: 'document', mime: 'application/pdf', bytes: pdf, name: 'a.pdf' },
    });
  });

  it.each([
    ['fake.png', PNG.subarray(0, 8), 'PNG image'],
    ['fake.jpg', Buffer.from('ffd8ffe0', 'hex'), 'JPEG image'],
    ['fake.pdf', Buffer.from('%PDF-'), 'PDF document'],
  ])('is refused if its header is damaged: %s', async (name, bytes, what) => {
    expect(await refusalOf(write(name, bytes))).toEqual([
      `'${name}' starts like a ${what}, but its header is damaged or cut off.`,
      'Attach the whole file; nothing was sent.',
    ]);
  });

  it('may have 20 MB', async () => {
    write('large.txt', 'x');
    truncateSync(join(cwd, 'large.txt'), LIMIT);
    // All of it is null bytes: it is read, and found to be binary.
    expect(await refusalOf('large.txt')).toEqual([
      "'large.txt' is a binary file, but not an image, PDF or audio.",
      'Attach text, PNG, JPEG, GIF, WebP or PDF; some models also take HEIC and audio (WAV, MP3, AIFF, AAC, Ogg, FLAC).',
    ]);
    truncateSync(join(cwd, 'large.txt'), LIMIT + 1);
    expect(await refusalOf('large.txt')).toEqual([
      "Cannot attach 'large.txt': It has 20 MB, and the limit is 20 MB.",
      'Attach a smaller file or a part of it; nothing was sent.',
    ]);
  });
});

it('reads the names in a folder', async () => {
  mkdirSync(join(cwd, 'folder/sub'), { recursive: true });
  writeFileSync(join(cwd, 'folder/a.txt'), '');
  expect(await readFileInput('folder', { cwd, pipes: false, signal: new AbortController().signal })).toEqual({
    text: '<folder name="folder">\na.txt\nsub/\n</folder>',
  });
});

describe('a path that cannot be attached', () => {
  it('is missing', async () => {
    expect(await refusalOf('none.txt')).toEqual([
      "Cannot attach 'none.txt': There is no such file.",
      'Check the path; nothing was sent.',
    ]);
  });

  it('is a device, which is not opened', async () => {
    expect(await refusalOf('/dev/null')).toEqual([
      "Cannot attach '/dev/null': It is a device, not a file.",
      'Attach a file, or pipe the text into hi ask; nothing was sent.',
    ]);
  });

  it('is a socket', async () => {
    const server = createServer().listen(join(cwd, 'socket'));
    await new Promise((listening) => server.once('listening', listening));
    expect((await refusalOf('socket'))[0]).toBe("Cannot attach 'socket': It is a socket, not a file.");
    server.close();
  });
});

describe('a pipe', () => {
  function makePipe(name: string): string {
    execFileSync('mkfifo', [join(cwd, name)]);
    return name;
  }

  /** Writes what the command prints into the pipe, in another process. */
  const feed = (name: string, command: string) =>
    spawn('sh', ['-c', `{ ${command}; } > ${name}`], { cwd, stdio: 'ignore' });

  it('is refused if its end may not be waited for', async () => {
    expect(await refusalOf(makePipe('refused'))).toEqual([
      "Cannot attach 'refused': It is a named pipe.",
      'Use hi ask -f, or cat it into a file; nothing was sent.',
    ]);
  });

  it('is read to its end', async () => {
    const name = makePipe('read');
    const reading = read(name, true);
    feed(name, 'printf "one\\n"; sleep 0.1; printf "two\\n"');
    expect(await reading).toEqual({ text: '<file name="read">\none\ntwo\n</file>' });
  });

  it('is read up to 20 MB', async () => {
    const name = makePipe('endless');
    const reading = refusalOf(name, true);
    const writer = feed(name, 'cat /dev/zero');
    expect(await reading).toEqual([
      "Cannot attach 'endless': It is too large, and the limit is 20 MB.",
      'Attach a smaller file or a part of it; nothing was sent.',
    ]);
    writer.kill();
  });

  it('can be abandoned before its end', async () => {
    const name = makePipe('left');
    const stop = new AbortController();
    const reading = read(name, true, stop.signal);
    const writer = feed(name, 'exec sleep 60');
    setTimeout(() => stop.abort(), 50);
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
    writer.kill();
  });
});
