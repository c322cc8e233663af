import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, jest } from '@jest/globals';
import type { Entry } from '../../../lib/chat/entry.js';
import { loadCodec } from '../../../lib/history/file/codec.js';
import { entriesIn } from '../../../lib/history/file/entries.js';
import { type Frame, frameAt } from '../../../lib/history/file/frames.js';
import {
  archived,
  dataFolder,
  exchange,
  fileIn,
  openIn,
  printed,
  quickFolder,
  unzstd,
  zstd,
} from '../../support/history.js';
import fc from '../../support/properties.js';
import { prose } from '../../support/prose.js';

/** A few in the suite; `npm run test:crash` flips two thousand. */
const FLIPS = Number(process.env.HI_FLIPS ?? 40);

/**
 * Some cuts in the suite; `npm run test:crash` cuts the small history at every byte and the large one at two hundred.
 */
const EVERY_CUT = process.env.HI_EVERY_CUT === '1';

/** A history as its bytes, with the entries each of its frames holds. */
interface Sample {
  readonly bytes: Buffer;
  readonly entries: readonly Entry[];
  readonly frames: readonly { readonly frame: Frame; readonly entries: readonly Entry[] }[];
}

async function sample(turns: number, characters: number): Promise<Sample> {
  const folder = quickFolder();
  const store = await openIn(folder);
  for (let turn = 0; turn < turns; turn += 1) await exchange(store, `question ${turn}`, prose(characters, turn));
  await store.close();
  const bytes = readFileSync(fileIn(folder));
  rmSync(folder, { recursive: true });
  const codec = loadCodec();
  const frames = [];
  for (let at = 0; at < bytes.length; ) {
    const frame = frameAt((from, length) => bytes.subarray(from, from + length), at, bytes.length);
    if (frame === null) throw new Error('no frame');
    const content = frame.content > 1 ? codec.decompress(bytes.subarray(at, at + frame.size), frame) : null;
    if (content) frames.push({ frame, entries: entriesIn(content) });
    at += frame.size;
  }
  return { bytes, frames, entries: frames.flatMap(({ entries }) => entries) };
}

/** Opens a history of these bytes; what it holds then, and what was kept beside it. */
async function opened(bytes: Buffer) {
  const folder = quickFolder();
  writeFileSync(fileIn(folder), bytes);
  const store = await openIn(folder);
  const entries = await archived(store);
  const copies = readdirSync(folder).filter((name) => name.includes('damaged'));
  const kept = copies.map((name) => readFileSync(join(folder, name)));
  const notices = store.takeNotices().filter((notice) => notice.includes('damaged'));
  await store.close();
  const again = entries.length === 0 ? entries : await archived(await openIn(folder));
  rmSync(folder, { recursive: true });
  return { entries, kept, notices, stable: same(again, entries) };
}

/** A history with so many places to cut it, all over it; as many as it has bytes are all there are. */
function evenly(history: Sample, count: number): readonly (readonly [Sample, number])[] {
  const { length } = history.bytes;
  return Array.from({ length: count }, (_, index) => [history, Math.floor(((index + 0.5) / count) * length)] as const);
}

/** Quicker than the matchers, which matters for thousands of entries. */
function same(one: readonly unknown[], other: readonly unknown[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The entries of all frames that do not reach over any of these bytes. */
function outside({ frames }: Sample, from: number, to: number): readonly Entry[] {
  return frames
    .filter(({ frame }) => frame.offset + frame.size <= from || frame.offset >= to)
    .flatMap(({ entries }) => entries);
}

// Many processes and files on what may be a busy machine.
jest.setTimeout(180_000);

describe('a damaged history', () => {
  it('that was cut off anywhere keeps every whole entry before the cut, a copy is kept, and the user is told', async () => {
    const small = await sample(4, 300);
    const large = await sample(24, 20_000);
    const cuts = [...evenly(small, EVERY_CUT ? small.bytes.length : 150), ...evenly(large, EVERY_CUT ? 200 : 15)];
    for (const [history, cut] of cuts) {
      const { entries, kept, notices, stable } = await opened(history.bytes.subarray(0, cut));
      expect(entries.length).toBeGreaterThanOrEqual(outside(history, cut, history.bytes.length).length);
      expect(same(entries, history.entries.slice(0, entries.length))).toBe(true);
      const rest = history.bytes.subarray(0, cut);
      // Between two frames behind the end of the array a cut harms nothing.
      if (kept.length === 0) expect(unzstd(rest) === JSON.stringify(history.entries)).toBe(true);
      else expect(kept.map((copy) => copy.equals(rest))).toEqual([true]);
      expect(notices).toHaveLength(kept.length);
      expect(stable).toBe(true);
    }
  }, 600_000);

  it(`with a wrong byte anywhere keeps every entry of the other frames, invents none, and a copy is kept if anything is lost (${FLIPS} bytes)`, async () => {
    const histories = [await sample(4, 300), await sample(30, 3_000), await sample(24, 20_000)];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...histories),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 1, max: 255 }),
        async (history, place, change) => {
          const at = Math.floor(place * history.bytes.length);
          const bytes = Buffer.from(history.bytes);
          bytes.writeUInt8(bytes.readUInt8(at) ^ change, at);
          const { entries, kept, notices, stable } = await opened(bytes);
          const found = new Set(entries.map(({ id }) => id));
          const written = history.entries.filter(({ id }) => found.has(id));
          expect(same(entries, written)).toBe(true);
          expect(outside(history, at, at + 1).filter(({ id }) => !found.has(id))).toEqual([]);
          expect(notices).toHaveLength(kept.length);
          if (entries.length < history.entries.length) expect(kept.map((copy) => copy.equals(bytes))).toEqual([true]);
          expect(stable).toBe(true);
        },
      ),
      { numRuns: FLIPS },
    );
  }, 600_000);

  it('with a wrong size of a skippable frame keeps every entry of the frames that it seems to cover', async () => {
    for (let turns = 30; turns < 32; turns += 1) {
      const { bytes: whole, entries: written } = await sample(turns, 3_000);
      const sizeAt = whole.indexOf(Buffer.from([0x2a, 0x4d, 0x18])) + 3;
      const size = whole.readUInt32LE(sizeAt);
      const changes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20].map((bit) => size ^ (1 << bit));
      // The bytes that fill a record up, and the first ones of the frame after it.
      const near = [1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((bytes) => [size - bytes, size + bytes]);
      for (const wrong of new Set(EVERY_CUT ? [...changes, ...near] : turns === 30 ? changes : near)) {
        const bytes = Buffer.from(whole);
        bytes.writeUInt32LE(wrong, sizeAt);
        const { entries } = await opened(bytes);
        expect([wrong - size, same(entries, written)]).toEqual([wrong - size, true]);
      }
    }
  });

  it('continues with ids that were never used', async () => {
    const { bytes } = await sample(4, 300);
    const folder = dataFolder();
    writeFileSync(fileIn(folder), bytes.subarray(0, bytes.length - 5000));
    const store = await openIn(folder);
    const before = await archived(store);
    const [asked] = await exchange(store, 'and now?', 'on we go');
    expect(asked?.id).toBe((before.at(-1)?.id ?? 0) + 1);
    expect(JSON.parse(printed(folder))).toHaveLength(before.length + 2);
    expect((await openIn(folder)).takeNotices()).toEqual([]);
  });

  it('that cannot be read at all starts over, and a copy is kept', async () => {
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.from('nonsense'),
      Buffer.alloc(9000),
      zstd(Buffer.from('"a string"')),
    ]) {
      const { entries, kept, notices } = await opened(bytes);
      expect(entries).toEqual([]);
      expect(kept).toEqual([bytes]);
      expect(notices).toHaveLength(1);
    }
  });
});

describe('a history that another program wrote', () => {
  const entries = Array.from({ length: 500 }, (_, index) => ({
    id: index + 1,
    turn: index - (index % 2) + 1,
    at: '2026-01-01T00:00:00Z',
    cwd: '/',
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: [{ type: 'text', text: `{"}[], \\" ${prose(200, index)} \ud83d\ude00` }],
    ...(index % 2 === 0 ? {} : { stop_reason: 'end' }),
  }));
  const text = JSON.stringify(entries);

  it("opens with any white space and frames, and gets hi's layout with the first message", async () => {
    const bytes = Buffer.from(text);
    const forms = [
      zstd(bytes),
      zstd(Buffer.from(JSON.stringify(entries, null, 2))),
      Buffer.concat([zstd(bytes.subarray(0, 1000)), zstd(bytes.subarray(1000, 40_001)), zstd(bytes.subarray(40_001))]),
    ];
    for (const form of forms) {
      const folder = dataFolder();
      writeFileSync(fileIn(folder), form);
      const store = await openIn(folder);
      expect(store.entries).toEqual(entries);
      expect(await store.newest(3)).toEqual(entries.slice(-3));
      expect(await archived(store)).toEqual(entries);
      expect(readFileSync(fileIn(folder)).equals(form)).toBe(true);
      const more = await exchange(store, 'one more', 'yes');
      expect(printed(folder)).toBe(JSON.stringify([...entries, ...more]));
      expect(readdirSync(folder)).toEqual(['history.json.zst']);
      expect((await openIn(folder)).takeNotices()).toEqual([]);
    }
  });

  it('that was cut off keeps what can be read', async () => {
    const large = Array.from({ length: 20 }, (_, round) =>
      entries.map((entry, index) => ({
        ...entry,
        id: entry.id + round * 500,
        turn: entry.turn + round * 500,
        content: [{ type: 'text', text: prose(300, round * 500 + index) }],
      })),
    ).flat();
    const bytes = zstd(Buffer.from(JSON.stringify(large)));
    const found = await opened(bytes.subarray(0, Math.floor(bytes.length / 2)));
    expect(found.entries.length).toBeGreaterThan(3000);
    expect(found.entries).toEqual(large.slice(0, found.entries.length));
    expect(found.notices).toHaveLength(1);
  });
});
