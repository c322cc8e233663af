import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { crc32 } from 'node:zlib';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Entry } from '../../lib/chat/entry.js';
import { archived, exchange, fileIn, openIn, quickFolder } from '../support/history.js';
import { prose } from '../support/prose.js';

/**
 * The kinds of frames that docs/history-format.md knows. Nothing here uses the program's own reader: it is another one,
 * made from that page.
 */
type Kind = 'opening' | 'closing' | 'data' | 'space' | 'record' | 'sums' | 'table';

interface Frame {
  readonly kind: Kind;
  readonly start: number;
  readonly end: number;
}

const OPENING = Buffer.from('28b52ffd20010000000000000900005b', 'hex');
const CLOSING = Buffer.from('28b52ffd20010000000000000900005d', 'hex');
const SKIPPABLE: Readonly<Record<number, Kind>> = {
  407710288: 'space',
  407710289: 'record',
  407710290: 'sums',
  407710302: 'table',
};

function framesOf(bytes: Buffer): readonly Frame[] {
  const frames: Frame[] = [];
  for (let start = 0; start < bytes.length; ) {
    const skippable = SKIPPABLE[bytes.readUInt32LE(start)];
    const end = skippable === undefined ? endOfData(bytes, start) : start + 8 + bytes.readUInt32LE(start + 4);
    const whole = bytes.subarray(start, end);
    const bracket = whole.equals(OPENING) ? 'opening' : whole.equals(CLOSING) ? 'closing' : 'data';
    frames.push({ kind: skippable ?? bracket, start, end });
    start = end;
  }
  return frames;
}

/** RFC 8878 sections 3.1.1.1 and 3.1.1.2, for frames without a dictionary. */
function endOfData(bytes: Buffer, start: number): number {
  expect(bytes.readUInt32LE(start)).toBe(0xfd2fb528);
  const descriptor = bytes.readUInt8(start + 4);
  const single = (descriptor & 0x20) !== 0;
  const size = [single ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  for (let at = start + 5 + (single ? 0 : 1) + size; ; ) {
    const block = bytes.readUIntLE(at, 3);
    at += 3 + ((block >> 1) % 4 === 1 ? 1 : block >> 3);
    if (block % 2 === 1) return at + ((descriptor & 4) !== 0 ? 4 : 0);
  }
}

function decompressed(bytes: Buffer): Buffer {
  const { status, stdout } = spawnSync('zstd', ['-dc'], { input: bytes, maxBuffer: 2 ** 28 });
  expect(status).toBe(0);
  return stdout;
}

const slicesOf = (content: Buffer): readonly Buffer[] =>
  Array.from({ length: Math.ceil(content.length / 16_384) }, (_, at) =>
    content.subarray(at * 16_384, (at + 1) * 16_384),
  );

/** Of which elements the content of a data frame is a list. */
const elementsIn = (content: Buffer): readonly Entry[] => JSON.parse(`[${content.toString().replace(/^,/, '')}]`);

let bytes: Buffer;
let frames: readonly Frame[];
let entries: readonly Entry[];

const contentOf = ({ start, end }: Frame): Buffer => decompressed(bytes.subarray(start, end));
const ofKind = (kind: Kind): readonly Frame[] => frames.filter((frame) => frame.kind === kind);

function only(kind: Kind): Frame {
  const [found, ...rest] = ofKind(kind);
  expect(rest).toEqual([]);
  if (found === undefined) throw new Error(`There is no frame of kind ${kind}.`);
  return found;
}

beforeAll(async () => {
  const folder = quickFolder();
  const store = await openIn(folder);
  for (let turn = 0; turn < 60; turn += 1) await exchange(store, `question ${turn}`, prose(20_000, turn));
  for (let turn = 0; turn < 3; turn += 1) await exchange(store, 'short', 'answer');
  bytes = readFileSync(fileIn(folder));
  frames = framesOf(bytes);
  entries = await archived(store);
  await store.close();
  rmSync(folder, { recursive: true });
});

describe('the history file follows docs/history-format.md', () => {
  it('frame by frame', () => {
    const letters = { opening: '[', closing: ']', data: 'd', space: '_', record: 'r', sums: 's', table: 't' };
    expect(frames.map(({ kind }) => letters[kind]).join('')).toMatch(/^\[(sd){3,}_*rd?(_d)+\]_+t$/);
    expect(bytes.length % 512).toBe(0);
    expect(frames.filter(({ kind, start }) => !['data', 'table'].includes(kind) && start % 8 !== 0)).toEqual([]);
    expect(ofKind('data').filter(({ end }) => end % 8 !== 0)).toEqual([]);
  });

  it('in what the data frames hold', () => {
    const contents = ofKind('data').map(contentOf);
    expect(contents.map((content) => content.toString('utf8', 0, 2))).toEqual([
      '{"',
      ...contents.slice(1).map(() => ',{'),
    ]);
    expect(contents.flatMap(elementsIn)).toEqual(entries);
  });

  it('in its checksums', () => {
    for (const sums of ofKind('sums')) {
      const frame = frames.find(({ start }) => start === sums.end);
      const slices = frame ? slicesOf(contentOf(frame)) : [];
      const told = slices.map((_, at) => bytes.readUInt32LE(sums.start + 8 + at * 4));
      expect(told).toEqual(slices.map((slice) => crc32(slice)));
      expect(bytes.subarray(sums.start + 8 + slices.length * 4, sums.end).every((byte) => byte === 0)).toBe(true);
    }
  });

  it('in its record', () => {
    const { start, end } = only('record');
    const record = JSON.parse(decompressed(bytes.subarray(start + 8, endOfData(bytes, start + 8))).toString());
    expect(end - endOfData(bytes, start + 8)).toBeLessThan(8);
    const open = frames.find((frame) => frame.start === end && frame.kind === 'data');
    const before = ofKind('data').filter((frame) => frame.end <= end || frame === open);
    const known = before.flatMap((frame) => elementsIn(contentOf(frame)));
    expect(record).toEqual({
      hi: 1,
      log: expect.any(String),
      facts: {
        entries: known.length,
        messages: known.length,
        compactions: 0,
        last_compaction: null,
        last: known.at(-1)?.id,
      },
      needed: OPENING.length,
      sums: open ? slicesOf(contentOf(open)).map((slice) => crc32(slice)) : [],
    });
  });

  it('in its seek table', () => {
    const { start, end } = only('table');
    expect(end).toBe(bytes.length);
    expect(bytes.readUInt32LE(end - 4)).toBe(0x8f92eab1);
    expect(bytes.readUInt8(end - 5)).toBe(0);
    const rows = Array.from({ length: bytes.readUInt32LE(end - 9) }, (_, row) => [
      bytes.readUInt32LE(start + 8 + row * 8),
      bytes.readUInt32LE(start + 12 + row * 8),
    ]);
    const sealed = frames.slice(0, rows.length - 1);
    const last = sealed.at(-1)?.end ?? 0;
    expect(rows.slice(0, -1)).toEqual(
      sealed.map((frame) => [
        frame.end - frame.start,
        ['data', 'opening'].includes(frame.kind) ? contentOf(frame).length : 0,
      ]),
    );
    expect(last + (rows.at(-1)?.[0] ?? 0)).toBe(start);
    expect(frames[rows.length - 1]?.start).toBe(last);
  });

  it('so that its script reads the end of the file', () => {
    const page = readFileSync(resolve(import.meta.dirname, '../../docs/history-format.md'), 'utf8');
    const script = /```sh\n(number\(\)[\s\S]*?)```/.exec(page)?.[1] ?? '';
    const folder = quickFolder();
    writeFileSync(fileIn(folder), bytes);
    const { stdout, stderr } = spawnSync('sh', ['-c', script], { env: { ...process.env, file: fileIn(folder) } });
    expect(stderr.toString()).toBe('');
    const read: readonly Entry[] = JSON.parse(stdout.toString());
    expect(read.length).toBeGreaterThan(5);
    expect(read.length).toBeLessThan(40);
    expect(read).toEqual(entries.slice(-read.length));
    rmSync(folder, { recursive: true });
  });

  it('so that another program can append to it', async () => {
    const close = only('closing');
    const space = frames.find(({ start }) => start === close.end);
    if (space === undefined) throw new Error('There is no space.');
    const last = entries.at(-1)?.id ?? 0;
    const added = { id: last + 1, turn: last + 1, at: '2026-11-22T11:00:00Z', role: 'user', content: [], cwd: '/' };
    const data = spawnSync('zstd', ['-3', '-c'], { input: `,${JSON.stringify(added)}` }).stdout;
    const [start, header] = [close.end + (-data.length & 7), Buffer.alloc(8)];
    const changed = Buffer.from(bytes);
    changed.fill(0, close.end, start);
    data.copy(changed, start);
    CLOSING.copy(changed, start + data.length);
    const rest = start + data.length + 16;
    header.writeUInt32LE(0x184d2a50, 0);
    header.writeUInt32LE(space.end - rest - 8, 4);
    header.copy(changed, rest);
    header.writeUInt32LE(start - close.start - 8, 4);
    header.copy(changed, close.start);
    const folder = quickFolder();
    writeFileSync(fileIn(folder), changed);
    const store = await openIn(folder);
    expect(await archived(store)).toEqual([...entries, added]);
    expect(await store.verify()).toEqual({ entries: entries.length + 1, problems: [] });
    await exchange(store, 'and then', 'this');
    expect((await archived(await openIn(folder))).length).toBe(entries.length + 3);
    rmSync(folder, { recursive: true });
  });
});
