import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Entry } from '../../../lib/chat/entry.js';
import { Damaged } from '../../../lib/history/file/frames.js';
import type { ConversationReading } from '../../../lib/history/open-reading.js';
import { archived, exchange, fileIn, openIn, quickFolder, zstd } from '../../support/history.js';
import { prose } from '../../support/prose.js';

let folder: string;
beforeEach(() => {
  folder = quickFolder();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Everything that a reading gives, in order. */
const all = (reading: ConversationReading): readonly Entry[] => [
  ...reading.pieces.flatMap((piece) => reading.read(piece).map(({ entry }) => entry)),
  ...reading.rest(),
];

describe('a reading of the conversation', () => {
  it('returns every entry once, in pieces that never change, and any one by its place', async () => {
    const store = await openIn(folder);
    for (let turn = 0; turn < 30; turn += 1) await exchange(store, `question ${turn}`, `${turn} `.repeat(170_000));
    await exchange(store, 'short', 'answer');
    const entries = await archived(store);
    const reading = await store.reading();
    expect(all(reading)).toEqual(entries);
    expect(reading.log).toBe(store.name);
    expect(reading.pieces.length).toBeGreaterThan(26);
    const places = reading.pieces.map((piece) => reading.read(piece));
    // More pieces than are held, forwards and backwards, and twice.
    for (const order of [reading.pieces, [...reading.pieces].reverse()])
      for (const piece of order) {
        const known = places[reading.pieces.indexOf(piece)] ?? [];
        for (const { entry, place } of known) expect(reading.readAt(piece, place)).toEqual(entry);
        expect([...reading.readFrom(piece, known.at(-1)?.place ?? 0)]).toEqual(known.slice(-1));
        expect([...reading.readFrom(piece, 0)]).toEqual(known);
      }
    const [first] = reading.pieces;
    if (first === undefined) throw new Error('There is no piece.');
    expect(() => reading.readAt(first, first.content)).toThrow(Damaged);
    expect(() => reading.read({ ...first, offset: first.offset + 1 })).toThrow(Damaged);
    await exchange(store, 'one more', 'yes');
    expect(all(reading)).toEqual(entries);
    const later = await store.reading();
    expect(later.pieces).toEqual(reading.pieces);
    expect(later.restVersion).not.toBe(reading.restVersion);
    expect((await store.reading()).restVersion).toBe(later.restVersion);
    expect(all(later)).toEqual(await archived(store));
    reading.close();
    later.close();
    await store.close();
  });

  it('of a file of another program has no pieces but all entries', async () => {
    const store = await openIn(folder);
    const entries = await exchange(store, 'one', 'two');
    await store.close();
    writeFileSync(fileIn(folder), zstd(Buffer.from(JSON.stringify(entries))));
    const other = await openIn(folder);
    const reading = await other.reading();
    expect([reading.pieces, reading.rest()]).toEqual([[], entries]);
    reading.close();
    await other.close();
  });

  it('includes what was said off the record, once', async () => {
    const store = await openIn(folder);
    for (let turn = 0; turn < 3; turn += 1) await exchange(store, `question ${turn}`, prose(200_000, turn));
    const before = await archived(store);
    const bytes = readFileSync(fileIn(folder));
    await store.goOffRecord();
    const more = await exchange(store, 'between us', 'of course');
    const reading = await store.reading();
    expect(reading.pieces.length).toBeGreaterThan(0);
    expect(all(reading)).toEqual([...before, ...more]);
    expect(reading.log).toBe(store.name);
    const version = reading.restVersion;
    reading.close();
    await exchange(store, 'and this', 'yes');
    const later = await store.reading();
    expect(later.restVersion).not.toBe(version);
    const [piece] = later.pieces;
    const [placed] = piece ? later.read(piece) : [];
    if (piece === undefined || placed === undefined) throw new Error('There is no piece.');
    expect(later.readAt(piece, placed.place)).toEqual(before[0]);
    expect([...later.readFrom(piece, placed.place)][0]).toEqual(placed);
    later.close();
    expect(readFileSync(fileIn(folder)).equals(bytes)).toBe(true);
    await store.close();
  });

  it('is empty without a history', async () => {
    const reading = await (await openIn(folder)).reading();
    expect([reading.pieces, reading.rest()]).toEqual([[], []]);
    reading.close();
  });
});
