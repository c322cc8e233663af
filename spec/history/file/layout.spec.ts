import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { type Entry, isMessage } from '../../../lib/chat/entry.js';
import { loadCodec } from '../../../lib/history/file/codec.js';
import {
  entriesIn,
  entryIn,
  firstIdIn,
  frameContent,
  lastMessages,
  messagesIn,
} from '../../../lib/history/file/entries.js';
import { Damaged, frameAt, type ReadBytes } from '../../../lib/history/file/frames.js';
import {
  CLOSING,
  checksumsBefore,
  checksumsOf,
  crc32,
  FILE_BLOCK,
  intactPieces,
  isFacts,
  NO_FACTS,
  OPENING,
  readMutableStart,
  readRecord,
  readTable,
  recordFrame,
  roundUpToBlock,
  SPACE_MAGIC,
  skippableHeader,
  spaceFor,
  tableFrame,
  withEntry,
} from '../../../lib/history/file/layout.js';
import { LogFile } from '../../../lib/history/file/log-file.js';
import { findTail, neededFrom, sealedFrame } from '../../../lib/history/file/tail.js';
import { LogWriter, RecentEntries } from '../../../lib/history/file/whole-log.js';
import { recoverFrame } from '../../../lib/history/repair/scan-frames.js';
import { quickFolder } from '../../support/history.js';
import { Log } from '../../support/log.js';
import fc from '../../support/properties.js';
import { prose } from '../../support/prose.js';

const codec = loadCodec();
const SLICE = 16 * 1024;

const readerOf =
  (bytes: Buffer): ReadBytes =>
  (offset, length) =>
    bytes.subarray(offset, offset + length);

/** So many turns in memory. */
function talk(turns: number, characters = 20): readonly Entry[] {
  const log = new Log();
  for (let turn = 0; turn < turns; turn += 1) log.exchange(`question ${turn}`, prose(characters, turn));
  return log.entries;
}

/** Does something with a file of these entries, open as hi has it. */
function withFile<Result>(
  entries: readonly Entry[],
  needed: number | null,
  work: (file: LogFile, path: string) => Result,
): Result {
  const folder = quickFolder();
  const path = join(folder, 'history');
  const written = openSync(path, 'w+');
  const writer = new LogWriter(codec, written, 'name');
  for (const entry of entries) writer.add(entry);
  writer.finish(needed);
  closeSync(written);
  const file = LogFile.open(codec, path, 'r+');
  try {
    return work(file, path);
  } finally {
    file.close();
    rmSync(folder, { recursive: true });
  }
}

const ids = (entries: readonly Entry[]): readonly number[] => entries.map(({ id }) => id);

describe('the open file', () => {
  it('returns the newest messages, the entries from one id on, and what the view needs, of short and long logs', () => {
    for (const entries of [talk(1), talk(40), talk(12, 90_000)])
      withFile(entries, entries.at(-3)?.id ?? 1, (file) => {
        expect(file.load().at(-1)).toEqual(entries.at(-1));
        expect(file.log).toBe('name');
        expect(file.facts).toEqual({
          ...NO_FACTS,
          entries: entries.length,
          messages: entries.length,
          last: entries.length,
        });
        expect([...file.all()].flat()).toEqual(entries);
        for (const count of [0, 1, 2, 5, 1000])
          expect(ids(file.newest(count))).toEqual(count === 0 ? [] : ids(entries.slice(-count)));
        for (const [from, before] of [
          [1, 3],
          [3, 7],
          [2, 2],
          [entries.length, 9999],
        ] as const)
          expect(ids(file.between(from, before))).toEqual(ids(entries.filter(({ id }) => id >= from && id < before)));
        expect(file.readNew()).toEqual([]);
      });
  });

  it('loads little more than the entries that the view needs', () => {
    const entries = talk(12, 90_000);
    for (const needed of [1, 5, 13, 24, null])
      withFile(entries, needed, (file) => {
        const loaded = ids(file.load());
        expect(loaded).toEqual(ids(entries).slice(entries.length - loaded.length));
        if (needed === null) expect(loaded.length).toBeLessThan(6);
        else expect(loaded[0] ?? 0).toBeLessThanOrEqual(needed);
        expect(needed === null ? 0 : needed - (loaded[0] ?? 0)).toBeLessThan(8);
      });
  });

  it('reads what is appended and sealed, here and by another process, once', () => {
    const entries = talk(30, 30_000);
    withFile(entries.slice(0, 2), 1, (file, path) => {
      file.load();
      const other = LogFile.open(codec, path, 'r');
      other.load();
      const version = other.unsealedVersion;
      let sealed = 0;
      for (let at = 2; at < entries.length; at += 2) {
        file.append(entries.slice(at, at + 2));
        if (file.isSealDue) sealed += file.seal(1);
        expect(ids(other.readNew())).toEqual([at + 1, at + 2]);
        expect(other.facts).toEqual(file.facts);
      }
      expect(sealed).toBeGreaterThan(1);
      expect(other.unsealedVersion).not.toBe(version);
      expect(other.unsealedVersion).toBe(LogFile.open(codec, path, 'r').unsealedVersion);
      expect([...other.all()].flat()).toEqual(entries);
      const unsealed = ids(other.unsealed());
      expect(unsealed).toEqual(ids(entries).slice(-unsealed.length));
      expect(unsealed.length).toBeLessThan(entries.length);
      expect([file.writable, other.writable, file.fileId]).toEqual([true, false, other.fileId]);
      other.close();
    });
  });

  it('is damaged if its ids do not ascend or leave no room, or if the record counts missing entries', () => {
    const [one, two] = talk(1);
    if (one === undefined || two === undefined) throw new Error('two');
    for (const [entries, ok] of [
      [[one, two], true],
      [[two, one], false],
      [[one, { ...two, id: 1 }], false],
      [[one, { ...two, id: 2 ** 52 - 1 }], true],
      [[one, { ...two, id: 2 ** 52 }], false],
    ] as const)
      withFile(entries, 1, (file) => {
        if (ok) expect(file.load()).toHaveLength(2);
        else expect(() => file.load()).toThrow(Damaged);
      });
  });

  it('finds its end without the seek table, but not without the record, the space or whole blocks', () => {
    withFile(talk(30, 20_000), 1, (_, path) => {
      const bytes = readFileSync(path);
      const read = (changed: Buffer) => findTail(codec, readerOf(changed), changed.length);
      const { foundFrom, ...tail } = read(bytes);
      expect(foundFrom).toBeGreaterThan(0);
      const noTable = Buffer.from(bytes);
      noTable.fill(0, bytes.length - 4);
      expect(read(noTable)).toEqual({ ...tail, foundFrom: 0 });
      const damaged = (change: (bytes: Buffer) => void): void => {
        const changed = Buffer.from(bytes);
        change(changed);
        expect(() => read(changed)).toThrow(Damaged);
      };
      damaged((changed) => changed.writeUInt8(0, 3));
      damaged((changed) => changed.writeUInt32LE(SPACE_MAGIC, tail.recordStart));
      damaged((changed) => changed.writeUInt32LE(SPACE_MAGIC + 3, tail.closing + CLOSING.length));
      damaged((changed) => OPENING.copy(changed, tail.closing));
      expect(() => read(bytes.subarray(0, bytes.length - 1))).toThrow('The file is not a whole number of blocks long.');
      expect(() => read(bytes.subarray(0, 512))).toThrow(Damaged);
    });
  });
});

describe('the entries of a frame', () => {
  const [one, two] = talk(1);
  if (one === undefined || two === undefined) throw new Error('two');

  it('are read with what precedes them, and begin with the id', () => {
    for (const first of [true, false]) {
      const content = frameContent([one, two], first);
      expect(entriesIn(content)).toEqual([one, two]);
      expect(firstIdIn(content)).toBe(1);
      expect(content.toString('latin1', 0, 1)).toBe(first ? '{' : ',');
    }
    expect(entriesIn(Buffer.from(`[${JSON.stringify(two)}`))).toEqual([two]);
    expect(firstIdIn(Buffer.from(`[{"id":17,"x":1}`))).toBe(17);
    expect(firstIdIn(Buffer.from(`{ "role": "user", "id": 23, "content": [] }`))).toBe(23);
    expect(firstIdIn(Buffer.from(`{"id":5e2,"role":"user"}`))).toBe(500);
    expect(firstIdIn(Buffer.alloc(0))).toBe(0);
  });

  it('are damaged if they are not JSON or not entries', () => {
    for (const text of ['{"id":1', '[1', '{}', '{"id":0}', 'x'])
      expect(() => entriesIn(Buffer.from(text))).toThrow(Damaged);
    expect([entryIn(Buffer.from('{"id":1')), entryIn(Buffer.from('{}'))]).toEqual([null, null]);
    expect(entryIn(Buffer.from(JSON.stringify(one)))).toEqual(one);
  });

  it('are counted by their messages', () => {
    const mark = { type: 'undo', id: 3, at: '', turns: [] } as const;
    const entries = [one, mark, two, { ...mark, id: 4 }];
    expect([messagesIn(entries), messagesIn([mark])]).toEqual([2, 0]);
    expect([0, 1, 2, 3].map((count) => lastMessages(entries, count).length)).toEqual([1, 3, 4, 4]);
  });
});

describe('the totals of a log', () => {
  it('follow from its entries', () => {
    const block = { type: 'compress', id: 9, at: 'then', content: '' } as Entry;
    const facts = [...talk(2), block, { type: 'undo', id: 12, at: 'later', turns: [] } as const].reduce(
      withEntry,
      NO_FACTS,
    );
    expect(facts).toEqual({ entries: 6, messages: 4, compactions: 1, last_compaction: 'then', last: 12 });
    expect(isFacts(facts)).toBe(true);
  });

  it('are unknown if a number is missing or not a whole one', () => {
    for (const name of Object.keys(NO_FACTS)) {
      const { [name as 'last']: _, ...rest } = NO_FACTS;
      expect(isFacts(rest)).toBe(false);
      expect(isFacts({ ...NO_FACTS, [name]: name === 'last_compaction' ? 5 : 1.5 })).toBe(false);
    }
    expect([null, 5, 'facts', undefined, { ...NO_FACTS, last_compaction: 'x' }].map(isFacts)).toEqual([
      false,
      false,
      false,
      false,
      true,
    ]);
  });

  it('of a record are accepted only in the format of this version', () => {
    const body = { hi: 1, log: 'name', facts: NO_FACTS, needed: null, sums: [] } as const;
    const read = (value: object) => readRecord(codec, recordFrame(codec, value as typeof body, 0));
    expect(read(body)).toEqual(body);
    expect(read({ ...body, needed: 16, sums: [1, 2], later: 'x' })).toMatchObject({ needed: 16, sums: [1, 2] });
    for (const name of Object.keys(body)) {
      const { [name as 'log']: _, ...rest } = body;
      expect(read(rest)).toBeNull();
      expect(read({ ...body, [name]: true })).toBeNull();
    }
    expect([read([]), read({ ...body, hi: 2 }), read({ ...body, needed: 0.5 })]).toEqual([null, null, null]);
    const frame = recordFrame(codec, body, 5);
    expect((frame.length + 5) % 8).toBe(0);
    const longer = Buffer.concat([frame, Buffer.alloc(8)]);
    longer.writeUInt32LE(longer.length - 8, 4);
    expect(readRecord(codec, longer)).toBeNull();
    frame.writeUInt8(frame.readUInt8(24) ^ 1, 24);
    expect(readRecord(codec, frame)).toBeNull();
  });
});

describe('the seek table', () => {
  const rows = [
    { size: 16, content: 1 },
    { size: 40, content: 0 },
    { size: 72, content: 900 },
  ];
  const table = tableFrame(rows);
  /** A file whose table begins at that place. */
  const file = (start: number, bytes = table): Buffer => Buffer.concat([Buffer.alloc(start), bytes]);
  const startIn = (bytes: Buffer): number | null => readMutableStart(readerOf(bytes), bytes.length);

  it('is read as it was written, and says where the part that may change begins', () => {
    const bytes = file(16 + 40 + 72);
    expect(readTable(readerOf(bytes), bytes.length)).toEqual(rows);
    expect(startIn(bytes)).toBe(56);
  });

  it('of another file is invalid: its rows do not reach far enough', () => {
    for (const start of [16 + 40 + 73, 16 + 40 + 71, 1000]) expect(startIn(file(start))).toBeNull();
    expect(startIn(file(200, tableFrame([])))).toBeNull();
    expect(startIn(file(8, tableFrame([{ size: 8, content: 0 }])))).toBeNull();
  });

  it('is invalid if any of its own bytes is wrong, or if it was cut off', () => {
    const bytes = file(128);
    const own = [128, 132, bytes.length - 9, bytes.length - 5, bytes.length - 4, bytes.length - 1];
    for (const at of own) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      expect([startIn(changed), readTable(readerOf(changed), changed.length)]).toEqual([null, null]);
    }
    for (let from = 1; from < bytes.length; from += 7) {
      const cut = bytes.subarray(from);
      expect(startIn(cut)).toBeNull();
    }
    const short: ReadBytes = (offset, length) => bytes.subarray(offset, Math.min(offset + length, bytes.length - 1));
    expect([readMutableStart(short, bytes.length), readTable(short, bytes.length)]).toEqual([null, null]);
    expect(startIn(Buffer.alloc(5))).toBeNull();
  });
});

describe('the space of a file', () => {
  it('grows with it, within bounds, and makes whole blocks', () => {
    expect([0, 512 * 32, 512 * 64, 1e9].map(spaceFor)).toEqual([512, 512, 1024, 65_536]);
    fc.assert(
      fc.property(fc.nat(1e7), (bytes) => {
        const size = roundUpToBlock(bytes);
        expect([size % FILE_BLOCK, size >= bytes, size - bytes < FILE_BLOCK]).toEqual([0, true, true]);
        expect(Number.isInteger(spaceFor(bytes))).toBe(true);
      }),
    );
  });
});

describe('where reading begins', () => {
  const starts = [
    { offset: 100, id: 1 },
    { offset: 200, id: 10 },
    { offset: 300, id: 20 },
  ];
  it('is the last frame that is early enough, or the record, or the beginning', () => {
    const from = (open: number | null, needed: number | null): number | null => neededFrom(starts, open, needed);
    expect([from(30, null), from(30, 30), from(30, 31), from(30, 29), from(null, 29)]).toEqual([
      null,
      null,
      null,
      300,
      300,
    ]);
    expect([from(30, 20), from(30, 19), from(30, 10), from(30, 1), from(30, 0)]).toEqual([
      300,
      200,
      200,
      100,
      OPENING.length,
    ]);
  });
});

describe('checksums', () => {
  it('find the intact pieces of a damaged content, each as long as possible', () => {
    const content = Buffer.from(prose(7 * SLICE + 500, 1));
    const sums = checksumsOf(content);
    expect([sums.length, sums[0]]).toEqual([8, crc32(content.subarray(0, SLICE))]);
    fc.assert(
      fc.property(fc.subarray([0, 1, 2, 3, 4, 5, 6, 7]), (bad) => {
        const damaged = Buffer.from(content);
        for (const slice of bad) damaged.writeUInt8(damaged.readUInt8(slice * SLICE + 9) ^ 1, slice * SLICE + 9);
        const pieces = intactPieces(damaged, sums);
        const good = [0, 1, 2, 3, 4, 5, 6, 7].filter((slice) => !bad.includes(slice));
        const runs = good.filter((slice) => !good.includes(slice - 1));
        expect(pieces.length).toBe(runs.length);
        const wanted = runs.map((slice) => {
          let end = slice;
          while (good.includes(end)) end += 1;
          return content.subarray(slice * SLICE, end * SLICE);
        });
        expect(pieces.every((piece, at) => piece.equals(wanted[at] ?? Buffer.alloc(0)))).toBe(true);
      }),
    );
    expect(intactPieces(content.subarray(0, SLICE + 5), sums).map(({ length }) => length)).toEqual([SLICE]);
    expect(intactPieces(content, [])).toEqual([]);
  });

  it('precede their frame, in a separate frame or in the record', () => {
    const content = Buffer.from(prose(3 * SLICE, 1));
    const sums = checksumsOf(content);
    const { bytes, rows } = sealedFrame(codec, content);
    const [{ size } = { size: 0 }] = rows;
    const padded = (found: readonly number[]): readonly number[] => found.slice(0, sums.length);
    const lead = Buffer.alloc(40, 3);
    const sumsAt = (frames: Buffer, at: number): readonly number[] => checksumsBefore(codec, readerOf(frames), at);
    expect(padded(sumsAt(bytes, size))).toEqual(sums);
    expect(padded(sumsAt(Buffer.concat([lead, bytes]), lead.length + size))).toEqual(sums);
    expect(sumsAt(Buffer.concat([lead, bytes]), lead.length + size + 1)).toEqual([]);
    const record = recordFrame(codec, { hi: 1, log: 'a', facts: NO_FACTS, needed: null, sums: [4, 5] }, 0);
    expect(sumsAt(Buffer.concat([lead, record]), lead.length + record.length)).toEqual([4, 5]);
    record.writeUInt8(record.readUInt8(20) ^ 1, 20);
    expect(sumsAt(record, record.length)).toEqual([]);
    expect(sumsAt(Buffer.concat([skippableHeader(SPACE_MAGIC, 8), Buffer.alloc(8)]), 16)).toEqual([]);
    expect(sumsAt(Buffer.alloc(3), 3)).toEqual([]);
  });
});

describe('a damaged frame', () => {
  const content = Buffer.from(prose(700_000, 1));
  const bytes = codec.compress(content);
  const recovered = (damaged: Buffer) => recoverFrame(codec, readerOf(damaged), 0, damaged.length);

  it('that is complete is intact, and verified by its checksum', () => {
    expect(recovered(bytes)).toMatchObject({
      isIntact: true,
      isVerified: true,
      isComplete: true,
      intactLength: 0,
      next: bytes.length,
    });
    expect(recovered(bytes)?.content.equals(content)).toBe(true);
    expect(recovered(Buffer.from('nonsense'))).toBeNull();
  });

  it('that was cut off returns its whole blocks, and how much of them is certain', () => {
    for (const part of [0.3, 0.5, 0.9]) {
      const found = recovered(bytes.subarray(0, Math.floor(bytes.length * part)));
      const length = found?.content.length ?? 0;
      expect(found).toMatchObject({ isIntact: false, isVerified: false, isComplete: false, intactLength: length });
      expect(length % (128 * 1024)).toBe(0);
      expect(length).toBeGreaterThan(0);
      expect(found?.content.equals(content.subarray(0, length))).toBe(true);
    }
    expect(recovered(bytes.subarray(0, 1000))).toBeNull();
  });

  it('without its checksum or with a wrong one is complete, and not certain', () => {
    const wrong = Buffer.from(bytes);
    wrong.writeUInt8(wrong.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    for (const damaged of [wrong, bytes.subarray(0, bytes.length - 3)]) {
      const found = recovered(damaged);
      expect(found).toMatchObject({ isIntact: false, isVerified: false, isComplete: true, intactLength: 0 });
      expect(found?.content.equals(content)).toBe(true);
      expect(frameAt(readerOf(damaged), 0, damaged.length) === null).toBe(damaged !== wrong);
    }
  });

  it('with a wrong byte in a block returns the blocks before it, none of them certain', () => {
    const damaged = Buffer.from(bytes);
    const at = bytes.length >> 1;
    damaged.fill(0xff, at, at + 40);
    const found = recovered(damaged);
    expect(found).toMatchObject({ isIntact: false, intactLength: 0 });
    expect(found?.content.length ?? 0).toBeGreaterThan(100_000);
  });
});

describe('the entries that the view needs', () => {
  it('are kept while a long log is read, and no more than those', () => {
    const recent = new RecentEntries();
    const entries = talk(7000);
    const block = (id: number, first: number): Entry =>
      ({
        ...{ type: 'compress', id, at: '', content: '', strategy: 's', source: 'model', first_kept: first },
        ...{ messages_compacted: 0, messages_kept: 0, tokens_before: 0, tokens_after: 0 },
      }) as Entry;
    for (const entry of entries) recent.add(entry);
    expect([recent.entries.length, recent.first, recent.facts.messages]).toEqual([14_000, 1, 14_000]);
    recent.add(block(14_001, 13_001));
    expect([recent.first, recent.entries.length]).toEqual([13_001, 1001]);
    for (let at = 0; at < 12_000; at += 1) recent.add({ ...entries[at], id: 14_002 + at, turn: 14_002 + at } as Entry);
    expect([recent.first, recent.entries.length]).toEqual([13_001, 13_001]);
    recent.add(block(26_002, 26_002));
    expect([recent.entries.map(({ id }) => id), recent.facts.messages]).toEqual([[26_002], 26_000]);
    expect(new RecentEntries()).toMatchObject({ first: null, entries: [] });
    expect(recent.entries.some(isMessage)).toBe(false);
  });
});

it('a file is not written over something that is not a file', () => {
  const folder = quickFolder();
  writeFileSync(join(folder, 'x'), 'nonsense');
  expect(() => LogFile.open(codec, join(folder, 'x'), 'r')).toThrow(Damaged);
  expect(() => LogFile.open(codec, folder, 'r')).toThrow('EISDIR');
  rmSync(folder, { recursive: true });
});
