import { describe, expect, it } from '@jest/globals';
import { loadCodec } from '../../../lib/history/file/codec.js';
import { NO_FACTS } from '../../../lib/history/file/layout.js';
import { sealedFrame } from '../../../lib/history/file/tail.js';
import { Inventory } from '../../../lib/history/repair/inventory.js';
import { type Merged, mergeConversations, NewIds } from '../../../lib/history/repair/join-logs.js';
import { Salvage } from '../../../lib/history/repair/salvage.js';
import {
  joinedTextAt,
  type RecoveredFrame,
  type ScannedFrame,
  scanFrames,
} from '../../../lib/history/repair/scan-frames.js';
import { hiFile } from '../../support/history-files.js';
import { prose } from '../../support/prose.js';

const codec = loadCodec();
type Data = Extract<ScannedFrame, { readonly kind: 'data' }>;

const entry = (id: number, more: object = {}) => ({
  ...{ id, turn: id, at: new Date((id % 1e9) * 1000).toISOString(), role: 'user', cwd: '/', content: [] },
  ...more,
});

/** A frame with that text in it. */
function data(text: string, found: Partial<RecoveredFrame> = {}, more: Partial<Data> = {}): Data {
  const whole = { isIntact: true, isVerified: true, isComplete: true, intactLength: 0, next: 0 };
  return {
    ...{ kind: 'data', at: 0, follows: true, isStale: false, isJoinedText: false },
    found: { content: Buffer.from(text), ...whole, ...found },
    ...more,
  };
}

const list = (...entries: readonly object[]): string => entries.map((one) => JSON.stringify(one)).join(',');
const array = (...entries: readonly object[]): string => `[${list(...entries)}]`;
const OPENING = { kind: 'opening' } as const;
const CLOSING = { kind: 'closing' } as const;

/** What is found in these frames, and what it is together: ids, and the indices of what is left out. */
function merged(...frames: readonly ScannedFrame[]): { readonly inventory: Inventory; readonly merged: Merged } {
  const inventory = new Inventory(codec, () => Buffer.alloc(0), frames);
  return { inventory, merged: mergeConversations(inventory) };
}

const places = ({ order }: Merged): readonly number[] => order;

describe('the frames of a file', () => {
  it('belong to hi up to the closing frame, and then to another file', () => {
    const { inventory } = merged(OPENING, data(list(entry(1))), CLOSING, data(array(entry(2))), data(array(entry(3))));
    expect(inventory.parts.map(({ isWrittenByHi }) => isWrittenByHi)).toEqual([true, false, false]);
    expect(inventory.items.map(({ id, part, stale }) => [id, part, stale])).toEqual([
      [1, 0, false],
      [2, 1, false],
      [3, 2, false],
    ]);
  });

  it('in space are an older copy, even if the header of the space is gone', () => {
    const old = data(list(entry(1)), {}, { isStale: true });
    const lost = data(`,${list(entry(2))}`, {}, { follows: false });
    const { inventory } = merged(OPENING, data(list(entry(3))), old, CLOSING, lost);
    expect(inventory.items.map(({ id, stale }) => [id, stale])).toEqual([
      [3, false],
      [1, true],
      [2, true],
    ]);
  });

  it('include the record of the conversation around it', () => {
    const body = { hi: 1, log: 'name', facts: NO_FACTS, needed: null, sums: [] } as const;
    const { inventory } = merged({ kind: 'record', body }, OPENING, { kind: 'record', body });
    expect(inventory.parts.map(({ record }) => record)).toEqual([body]);
  });

  it('of other programs may split messages, trusted as far as possible', () => {
    const text = array(entry(1), entry(2), entry(3));
    const cut = text.indexOf('"id":2') + 3;
    const trust = (first: boolean, second: boolean): readonly string[] => {
      const [one, two] = [
        data(text.slice(0, cut), { isVerified: first }),
        data(text.slice(cut), { isVerified: second }),
      ];
      return merged(one, two).inventory.items.map((item) => item.trust);
    };
    expect(trust(true, true)).toEqual(['checked', 'checked', 'checked']);
    expect(trust(false, true)).toEqual(['plain', 'plain', 'checked']);
    expect(trust(true, false)).toEqual(['checked', 'plain', 'plain']);
    const { inventory } = merged(data(text.slice(0, cut)), data(text.slice(cut)));
    expect([...inventory.long].map(([index, bytes]) => [index, JSON.parse(bytes.toString()).id])).toEqual([[1, 2]]);
  });

  it('across a gap contain only what is certainly an element', () => {
    const text = array(entry(1), { type: 'text', text: 'no element' }, entry(2));
    const { inventory } = merged(
      data(text, {}, { follows: false }),
      data(`{"type":"text"},${list(entry(3))}]`, {}, { follows: false }),
    );
    expect(inventory.items.map(({ id }) => id)).toEqual([1, null, 2, 3]);
    expect(inventory.parts.map(({ isDamaged }) => isDamaged)).toEqual([true]);
    const later = merged(data(`"}]},${list({ type: 'text', text: 'no' }, entry(3))}]`, {}, { follows: false }));
    expect(later.inventory.items.map(({ id }) => id)).toEqual([3]);
  });

  it('are read except for what is not an element, and an element without a time gets that of the one before', () => {
    const { inventory } = merged(data(array({ note: 'x' }, entry(5), entry(6, { at: 'whenever' }), { y: 1 })));
    expect(inventory.parts.map(({ skipped }) => skipped)).toEqual([2]);
    expect(inventory.items.map(({ time, changed }) => [time, changed])).toEqual([
      [5000, false],
      [5000, false],
    ]);
  });

  it('that are damaged contribute what their checksums confirm', () => {
    const entries = Array.from({ length: 120 }, (_, at) =>
      entry(at + 1, { content: [{ type: 'text', text: prose(800, at) }] }),
    );
    const content = Buffer.from(list(...entries));
    const { bytes, rows } = sealedFrame(codec, content);
    const at = rows[0]?.size ?? 0;
    const damaged = Buffer.from(content);
    damaged.fill(0x20, 40_000, 40_300);
    const frame = data('', { content: damaged, isIntact: false, isVerified: false }, { at });
    const inventory = new Inventory(codec, (offset, length) => bytes.subarray(offset, offset + length), [
      OPENING,
      frame,
    ]);
    const found = inventory.items.map(({ id }) => id ?? 0);
    expect(found).toEqual([...found].sort((one, other) => one - other));
    expect(found.slice(0, 10)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect([found.at(-1), found.length > 80, found.length < 119]).toEqual([120, true, true]);
    for (const { start, end, id } of inventory.items)
      expect(JSON.parse(content.toString('utf8', start, end)).id).toBe(id);
    const unknown = new Inventory(codec, () => Buffer.alloc(0), [
      OPENING,
      data('', { ...frame.found, intactLength: 30_000 }),
    ]);
    expect(unknown.items.every(({ end }) => end <= 30_000)).toBe(true);
    expect(unknown.items.length).toBeGreaterThan(10);
  });
});

describe('merged conversations', () => {
  const file = (...entries: readonly object[]): Data => data(array(...entries));

  it('use an older copy for what is gone, in its place, once, and for nothing else', () => {
    const stale = { isStale: true };
    const { inventory, merged: found } = merged(
      OPENING,
      data(list(entry(1), entry(4))),
      data(list(entry(4), entry(2)), {}, stale),
      data(list(entry(2), entry(3)), {}, stale),
    );
    expect(found.order.map((index) => inventory.items[index]?.id)).toEqual([1, 2, 3, 4]);
    expect([found.isRenumbered, found.unverified, found.repeated.size]).toEqual([false, [], 0]);
  });

  it('leave out what nothing confirms, unless everything around it fits', () => {
    const plain = { isVerified: false };
    expect(merged(data(array(entry(1), entry(2)), plain)).merged).toMatchObject({ order: [0, 1], unverified: [] });
    expect(merged(data(`[${list(entry(1), entry(2))}`, plain)).merged).toMatchObject({ order: [], unverified: [0, 1] });
    expect(merged(data(list(entry(1)), plain)).merged).toMatchObject({ order: [0], unverified: [] });
  });

  it('are in the order of time, turn by turn, even if a clock was set back', () => {
    const one = [
      entry(1, { at: 10 }),
      entry(2, { at: 50, role: 'assistant' }),
      entry(3, { at: 5 }),
      entry(4, { at: 40 }),
    ];
    const other = [entry(5, { at: 9 }), entry(6, { at: 12 }), entry(7, { at: 41 })];
    const { inventory, merged: found } = merged(file(...one), file(...other));
    expect(places(found).map((index) => inventory.items[index]?.id)).toEqual([5, 1, 2, 3, 6, 4, 7]);
    expect(found.ids).toEqual([5, 6, 7, 8, 9, 10, 11]);
    expect(found.isRenumbered).toBe(true);
  });

  it('contain exact repetitions under one id once, and both versions if one was changed', () => {
    const changed = entry(2, { content: [{ type: 'text', text: 'changed' }] });
    const { merged: found } = merged(file(entry(1), entry(2)), data(`[ ${list(entry(1))}, ${list(changed)} ]`));
    expect([found.order.length, [...found.repeated]]).toEqual([3, [[2, 0]]]);
    const nameless = { role: 'user', content: 'a', at: 5 };
    expect(merged(file(nameless), file(nameless)).merged.order).toHaveLength(2);
    expect(merged(file(entry(3), entry(3))).merged).toMatchObject({ order: [0], isRenumbered: false });
  });

  it('have ascending ids, starting at one if they are too high', () => {
    const ids = (...numbers: readonly number[]): readonly number[] =>
      merged(file(...numbers.map((id) => entry(id)))).merged.ids;
    expect(ids(3, 7, 9)).toEqual([3, 7, 9]);
    expect(ids(3, 9, 7, 8, 20)).toEqual([3, 9, 10, 11, 20]);
    expect(ids(2 ** 52 - 2 ** 20 - 1)).toEqual([2 ** 52 - 2 ** 20 - 1]);
    expect(ids(5, 2 ** 52 - 2 ** 20)).toEqual([1, 2]);
    expect(ids(2 ** 52 - 2 ** 20 - 1, 1)).toEqual([1, 2]);
  });

  it('refer to each other by the new ids: to the nearest before, else the next, else its turn, else what follows', () => {
    const one = [entry(5), entry(5, { content: ['again'] }), entry(9, { turn: 7 }), entry(5, { content: ['last'] })];
    const { inventory, merged: found } = merged(file(...one), file(entry(5, { at: 0 })));
    const ids = new NewIds(inventory.items, inventory.parts.length, found);
    expect(found.ids).toEqual([5, 6, 7, 9, 10]);
    const idAt = (index: number): number => found.ids[found.order.indexOf(index)] ?? 0;
    expect([0, 1, 2, 3].map((from) => ids.find(from, 5))).toEqual([0, 1, 1, 3].map(idAt));
    expect(ids.find(0, 9)).toBe(idAt(2));
    expect(ids.find(0, 7)).toBe(idAt(2));
    expect(ids.find(0, 6)).toBe(idAt(2));
    expect(ids.find(1, 99)).toBe(idAt(1));
    expect(ids.find(4, 5)).toBe(idAt(4));
    expect(ids.find(4, 9)).toBe(idAt(4));
  });

  it('refer to the one of two that stays', () => {
    const { inventory, merged: found } = merged(file(entry(5), entry(6)), file(entry(5), entry(8)));
    const ids = new NewIds(inventory.items, 2, found);
    expect([...found.repeated]).toEqual([[2, 0]]);
    expect(ids.find(3, 5)).toBe(ids.find(0, 5));
  });
});

describe('a file that was searched for frames', () => {
  it('has its records, brackets and data where they are, and the content of space is old', async () => {
    const { bytes } = await hiFile(30, 'word', 20_000);
    const read = (offset: number, length: number): Buffer => bytes.subarray(offset, offset + length);
    const kinds = [...scanFrames(codec, read, bytes.length)].map((frame) =>
      frame.kind === 'data' ? (frame.isStale ? 'old' : frame.follows ? 'data' : 'gap') : frame.kind,
    );
    expect(kinds.filter((kind) => kind !== 'old').join(' ')).toMatch(/^opening (data )+record (data )*closing$/);
    const almost = Buffer.from(bytes);
    almost.writeUInt16LE(0, 3);
    const [first] = scanFrames(codec, (offset, length) => almost.subarray(offset, offset + length), almost.length);
    expect(first).toEqual({ kind: 'opening' });
    const joined = Buffer.concat([bytes, Buffer.from('\n[{"id":1}]')]);
    const text = joinedTextAt(
      (offset, length) => joined.subarray(offset, offset + length),
      bytes.length,
      joined.length,
    );
    expect([text?.content.toString(), text?.next, text?.isVerified]).toEqual(['\n[{"id":1}]', joined.length, false]);
    expect(joinedTextAt(read, bytes.length - 40, bytes.length)).toBeNull();
    const alone = Buffer.from('[{"id":1}]');
    expect(joinedTextAt((offset, length) => alone.subarray(offset, offset + length), 0, alone.length)).toBeNull();
  });

  it('reports what was done, part by part', async () => {
    const { bytes, entries } = await hiFile(3, 'word');
    const salvageOf = (whole: Buffer) =>
      new Salvage(codec, (offset, length) => whole.subarray(offset, offset + length), whole.length);
    const { report, log } = salvageOf(bytes);
    const none = { format: null, parts: 1, missing: 0, unverified: 0, repeated: 0, foreign: 0, changed: 0 };
    expect(report).toEqual({ ...none, entries: 6, isRenumbered: false });
    expect(log).toMatch(/-/);
    const twice = salvageOf(Buffer.concat([bytes, bytes]));
    expect([twice.report, twice.log]).toEqual([
      { ...none, parts: 2, entries: 6, repeated: 6, isRenumbered: false },
      null,
    ]);
    expect([...twice.entries()]).toEqual(entries);
    const gaps = codec.compress(Buffer.from(array(entry(2), entry(5), entry(6))));
    expect(salvageOf(gaps).report).toEqual({ ...none, entries: 3, missing: 2, isRenumbered: false });
    const lines = codec.compress(Buffer.from([entry(2), entry(5)].map((one) => JSON.stringify(one)).join('\n')));
    expect(salvageOf(lines).report).toMatchObject({ format: 'one JSON object after another', entries: 2, missing: 0 });
    const edited = codec.compress(Buffer.from(array({ role: 'human', content: 'a' }, { x: 1 })));
    expect(salvageOf(edited).report).toMatchObject({ changed: 1, foreign: 1, entries: 1, isRenumbered: true });
    expect([...salvageOf(edited).entries()]).toMatchObject([
      { id: 1, turn: 1, role: 'user', content: [{ text: 'a' }] },
    ]);
  });

  it('keeps apart what can be read but not verified, under ascending ids', () => {
    const text = `[${list(entry(4), entry(2), entry(9), { role: 'user', content: 'x' })}`;
    const bytes = Buffer.concat([codec.compress(Buffer.from(array())), plainFrame(text)]);
    const salvage = new Salvage(codec, (offset, length) => bytes.subarray(offset, offset + length), bytes.length);
    expect(salvage.report).toMatchObject({ unverified: 4, entries: 0 });
    expect([...salvage.unverified()].map(({ id }) => id)).toEqual([4, 5, 9, 10]);
  });
});

/** A zstd frame without a checksum: one raw block (RFC 8878, 3.1.1). */
function plainFrame(text: string): Buffer {
  const content = Buffer.from(text);
  const head = Buffer.alloc(12);
  head.writeUInt32LE(0xfd2fb528, 0);
  head.writeUInt8(0xa0, 4);
  head.writeUInt32LE(content.length, 5);
  head.writeUIntLE((content.length << 3) | 1, 9, 3);
  return Buffer.concat([head, content]);
}
