import { writeFileSync } from 'node:fs';
import { describe, expect, it, jest } from '@jest/globals';
import type { Entry } from '../../../lib/chat/entry.js';
import { archived, exchange, fileIn, openIn, quickFolder } from '../../support/history.js';
import { compressed, disorder, foreignFile, hiFile, outcomeOf, texts } from '../../support/history-files.js';
import fc, { cases } from '../../support/properties.js';
import { prose } from '../../support/prose.js';

jest.setTimeout(180_000);

const ENTRIES: readonly Entry[] = Array.from({ length: 600 }, (_, index) => ({
  id: index + 1,
  turn: index - (index % 2) + 1,
  at: '2026-01-01T00:00:00Z',
  cwd: '/',
  role: index % 2 === 0 ? 'user' : 'assistant',
  content: [{ type: 'text', text: `${index} ${prose(300, index)}` }],
  ...(index % 2 === 0 ? {} : { stop_reason: 'end' }),
}));

/** The number in what the user was told, 0 when there is none. */
const toldOf = (told: string, words: RegExp): number => Number(words.exec(told)?.[1] ?? 0);
const missing = (told: string) => toldOf(told, /(\d+) (?:entry is|entries are) missing/);
const unconfirmed = (told: string) => toldOf(told, /(\d+) (?:entry is|entries are) left out, because no checksum/);

/** The entries that are not, byte for byte, among those that were written. */
function altered(entries: readonly Entry[], written: readonly Entry[]): readonly Entry[] {
  const known = new Set(written.map((entry) => JSON.stringify(entry)));
  return entries.filter((entry) => !known.has(JSON.stringify(entry)));
}

describe('a history of another zstd writer with a wrong byte', () => {
  const writers: Readonly<Record<string, Buffer>> = {
    'one frame': foreignFile(ENTRIES),
    'level 19': foreignFile(ENTRIES, ['-19']),
    'many frames': Buffer.concat(
      Array.from({ length: 12 }, (_, part) => {
        const text = JSON.stringify(ENTRIES);
        const size = Math.ceil(text.length / 12);
        return compressed(text.slice(part * size, (part + 1) * size));
      }),
    ),
  };

  it('is believed if a checksum covers it, and the rest is counted and kept apart', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.values(writers)),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 0, max: 7 }),
        async (sound, place, bit) => {
          const bytes = Buffer.from(sound);
          const at = Math.floor(place * bytes.length);
          bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at);
          const { entries, told, kept, unverified, printed } = await outcomeOf(bytes);
          expect(altered(entries, ENTRIES)).toEqual([]);
          expect(unconfirmed(told)).toBe(unverified.length);
          if (entries.length < ENTRIES.length) expect(kept.map((copy) => copy.equals(bytes))).toEqual([true]);
          if (entries.length > 0) expect(printed).toBe(JSON.stringify(entries));
        },
      ),
      { numRuns: cases(10) },
    );
  });

  it('loses only what is in the frame with the wrong byte', async () => {
    const bytes = Buffer.from(writers['many frames'] ?? []);
    const at = bytes.length >> 1;
    bytes.writeUInt8(bytes.readUInt8(at) ^ 4, at);
    const { entries, unverified } = await outcomeOf(bytes);
    expect(entries.length).toBeGreaterThan(480);
    expect(entries.length + unverified.length).toBeGreaterThan(500);
  });

  it('without checksums is believed as long as everything fits together', async () => {
    const sound = foreignFile(ENTRIES, ['--no-check']);
    const whole = await outcomeOf(sound, 'more');
    expect([texts(whole.entries).length, whole.told]).toEqual([602, '']);
    const cut = await outcomeOf(Buffer.concat([compressed(JSON.stringify(ENTRIES).slice(0, -400), ['--no-check'])]));
    expect(cut.entries).toEqual([]);
    expect(cut.unverified.length).toBe(unconfirmed(cut.told));
    expect(cut.unverified.length).toBeGreaterThan(590);
  });
});

describe("a history in hi's layout with a wrong byte", () => {
  it('says how many entries are missing', async () => {
    const files = [await hiFile(40, 'small', 300), await hiFile(60, 'large', 12_000)];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...files),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 1, max: 255 }),
        async ({ bytes: sound, entries: written }, place, change) => {
          const bytes = Buffer.from(sound);
          const at = Math.floor(place * bytes.length);
          bytes.writeUInt8(bytes.readUInt8(at) ^ change, at);
          const { entries, told } = await outcomeOf(bytes);
          expect(altered(entries, written)).toEqual([]);
          const last = entries.at(-1)?.id ?? 0;
          // Nothing tells of an entry that was the newest.
          expect([written.length - entries.length, last - entries.length]).toContain(missing(told));
        },
      ),
      { numRuns: cases(10) },
    );
  });
});

/** A conversation as another program may write it, and what is in its file. */
async function carried(bytes: Buffer) {
  const read = await outcomeOf(bytes);
  const written = await outcomeOf(bytes, 'and now?');
  expect(disorder(written.entries)).toEqual([]);
  expect(texts(written.entries)).toEqual([...texts(read.entries), 'and now?', 'yes']);
  expect(JSON.parse(written.printed ?? '')).toEqual(written.entries);
  return { read, written };
}

const question = (id: unknown, text: string) => ({
  id,
  turn: id,
  at: '2026-01-01T00:00:00Z',
  role: 'user',
  cwd: '/',
  content: [{ type: 'text', text }],
});
const answer = (id: unknown, turn: unknown, text: string) => ({
  ...question(id, text),
  turn,
  role: 'assistant',
  stop_reason: 'end',
});

describe('a history that was edited', () => {
  it('with ids that do not ascend keeps every message in its place, with its turn', async () => {
    for (const ids of [
      [1_000_001, 1, 3, 5],
      [1, 1, 1, 1],
      [7, 5, 3, 1],
      [2 ** 53 - 2, 1, 5, 9],
    ]) {
      const entries = ids.flatMap((id, at) => [question(id, `q${at}`), answer(id + 1, id, `a${at}`)]);
      const { read, written } = await carried(foreignFile(entries));
      expect(texts(read.entries)).toEqual(['q0', 'a0', 'q1', 'a1', 'q2', 'a2', 'q3', 'a3']);
      expect(disorder(read.entries)).toEqual([]);
      expect(read.kept).toEqual([]);
      expect(read.told).toMatch(/^The history was edited by another program: .*new ids/);
      expect(written.kept).toEqual([foreignFile(entries)]);
      expect(written.entries.at(-1)?.id).toBeLessThan(2 ** 52);
    }
  });

  it('with new ids keeps the references of compress blocks and of undone turns', async () => {
    const block = {
      id: 30,
      at: '2026-01-01T00:00:00Z',
      type: 'compress',
      content: 'earlier',
      strategy: 'summary',
      source: 'model',
    };
    const numbers = { first_kept: 12, messages_compacted: 2, messages_kept: 2, tokens_before: 9, tokens_after: 5 };
    const state = { cut: { turn: 12, id: 12 }, also: [10], open: [], pruned: [13] };
    const undo = { id: 31, at: '2026-01-01T00:00:00Z', type: 'undo', turns: [10] };
    const entries = [
      question(90, 'z'),
      answer(91, 90, 'y'),
      question(10, 'a'),
      answer(11, 10, 'b'),
      question(12, 'c'),
      answer(13, 12, 'd'),
      { ...block, ...numbers, state },
      undo,
    ];
    const { entries: found } = await outcomeOf(foreignFile(entries));
    expect(found.slice(-2)).toMatchObject([
      { first_kept: 94, state: { cut: { turn: 94, id: 94 }, also: [92], pruned: [95] } },
      { turns: [92] },
    ]);
  });

  it('with strings for contents, ids in strings and no turns is converted', async () => {
    const entries = [
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'hi there' },
      { id: '7', at: 1_767_225_600, role: 'human', content: ['a', { text: 'b' }] },
      { id: '8', turn: '7', at: '2026-01-01T00:00:00Z', role: 'ai', content: 'c' },
      { note: 'x' },
    ];
    const { read } = await carried(foreignFile(entries));
    expect(texts(read.entries)).toEqual(['hello', 'hi there', 'ab', 'c']);
    expect(read.told).toMatch(/4 entries lacked fields, which were filled in; 1 element is left out, because/);
  });

  it('continues after the highest possible id', async () => {
    const { written } = await carried(foreignFile([question(1, 'a'), answer(2 ** 53 - 1, 1, 'b')]));
    expect(written.entries.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
  });

  it.each([1, 2, 3, 4, 2 ** 20, 2 ** 20 + 1, 2 ** 20 + 2])(
    'takes each message once when its last id is 2^52 - %d',
    async (below) => {
      const last = 2 ** 52 - below;
      const folder = quickFolder();
      writeFileSync(fileIn(folder), foreignFile([question(1, 'a'), answer(last, 1, 'b')]));
      for (const word of ['one', 'two', 'three']) {
        const store = await openIn(folder);
        await exchange(store, word, `re ${word}`);
        await store.close();
      }
      const entries = await archived(await openIn(folder));
      expect(texts(entries)).toEqual(['a', 'b', 'one', 're one', 'two', 're two', 'three', 're three']);
      expect(disorder(entries)).toEqual([]);
    },
  );

  it('is reported as edited once, and later only if a copy is kept', async () => {
    const folder = quickFolder();
    writeFileSync(fileIn(folder), foreignFile([question(5, 'a'), answer(2, 5, 'b')]));
    const store = await openIn(folder);
    const atStart = store.takeNotices();
    await exchange(store, 'one', 'two');
    expect(atStart).toEqual([expect.stringMatching(/^The history was edited by another program: /)]);
    expect(store.takeNotices()).toEqual([
      expect.stringMatching(/^The edited history is kept as '.*history\.damaged-.*'\.$/),
    ]);
    expect(store.takeNotices()).toEqual([]);
  });

  it('is reported in one sentence if nobody was told before the first message', async () => {
    const folder = quickFolder();
    writeFileSync(fileIn(folder), foreignFile([question(5, 'a'), answer(2, 5, 'b')]));
    const store = await openIn(folder);
    await exchange(store, 'one', 'two');
    const notices = store.takeNotices();
    expect(notices.filter((notice) => notice.includes('edited by another program'))).toHaveLength(1);
    expect(notices.join(' ')).toMatch(/kept as '.*history\.damaged-/);
  });

  it('with a byte order mark is not damaged', async () => {
    const { entries, told, kept } = await outcomeOf(compressed(`\ufeff${JSON.stringify(ENTRIES)}`), 'more');
    expect([texts(entries).length, told, kept]).toEqual([602, '', []]);
  });
});

describe('a history in another form', () => {
  const json = JSON.stringify(ENTRIES);
  it.each([
    ['plain JSON', Buffer.from(json)],
    ['one JSON object after another', compressed(ENTRIES.map((entry) => JSON.stringify(entry)).join('\n'))],
  ])('is named and read: %s', async (form, bytes) => {
    const { entries, told, kept, printed } = await outcomeOf(bytes, 'more');
    expect(entries.slice(0, 600)).toEqual(ENTRIES);
    expect(told).toContain(`but ${form}`);
    expect(told).not.toContain('damaged.');
    expect(kept.map((copy) => copy.equals(bytes))).toEqual([true]);
    expect(JSON.parse(printed ?? '')).toHaveLength(602);
  });
});

describe('a damaged file of another writer that splits messages between frames', () => {
  const nested = Array.from({ length: 40 }, (_, index) => ({
    id: index + 1,
    turn: index - (index % 2) + 1,
    at: '2026-01-01T00:00:00Z',
    cwd: '/',
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: [0, 1, 2].map((part) => ({ type: 'text', text: `[{"id":${index}}] ${part} ${prose(300, index)}` })),
    ...(index % 2 === 0 ? {} : { stop_reason: 'end' }),
  }));
  const text = JSON.stringify(nested);
  const sound = (from: number, to: number) => compressed(text.slice(from, to));

  it.each(['[{"type"', '{"type"', '"text":"[{', '"content"'])(
    'gives whole messages only, and is called damaged, where a frame begins with %s',
    async (beginning) => {
      const place = text.indexOf(beginning, 9000);
      const lost = Buffer.from(sound(3000, place));
      lost.fill(0);
      for (const parts of [
        [sound(0, 3000), lost, sound(place, text.length)],
        [lost, sound(place, text.length)],
      ]) {
        const { entries, told } = await outcomeOf(Buffer.concat(parts));
        expect(altered(entries, nested as unknown as readonly Entry[])).toEqual([]);
        expect(entries.length).toBeGreaterThan(10);
        expect(told).toContain('was damaged');
        expect(told).not.toContain('joined');
        const ids = entries.map(({ id }) => id);
        const gone = (ids.at(-1) ?? 0) - (ids[0] ?? 0) + 1 - ids.length;
        const [, counted = '0'] = /(\d+) entr(?:y is|ies are) missing/.exec(`${told}`) ?? [];
        const [, doubtful = '0'] = /(\d+) entr(?:y is|ies are) left out/.exec(`${told}`) ?? [];
        expect(Number(counted) + Number(doubtful)).toBeGreaterThanOrEqual(gone);
      }
    },
  );
});
