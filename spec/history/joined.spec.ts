import { appendFileSync, copyFileSync, readFileSync } from 'node:fs';
import { describe, expect, it, jest } from '@jest/globals';
import type { Entry } from '../../lib/chat/entry.js';
import { archived, dataFolder, exchange, fileIn, openIn, printed } from '../support/history.js';
import { compressed, disorder, foreignFile, hiFile, outcomeOf, texts } from '../support/history-files.js';
import fc, { cases } from '../support/properties.js';

// Every case is compressed and read by other programs, on what may be a busy machine.
jest.setTimeout(180_000);

/** The ways in which one part of a joined file may be written. */
const WRITERS: Readonly<Record<string, (entries: readonly Entry[], bytes: Buffer) => Buffer>> = {
  hi: (_entries, bytes) => bytes,
  zstd: (entries) => foreignFile(entries),
  'zstd without checksums': (entries) => foreignFile(entries, ['--no-check']),
  'pretty-printed': (entries) => compressed(JSON.stringify(entries, null, 2)),
  'cut into frames': (entries) => {
    const text = Buffer.from(JSON.stringify(entries));
    const half = text.length >> 1;
    return Buffer.concat([compressed(text.subarray(0, half)), compressed(text.subarray(half))]);
  },
};

const lines = (entries: readonly Entry[]): Buffer =>
  Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));

/** The ways in which a part may be written that is not in zstd. */
const OTHER_FORMATS: Readonly<Record<string, (entries: readonly Entry[]) => Buffer>> = {
  'JSON lines': lines,
  'a JSON array': (entries) => Buffer.from(`\n${JSON.stringify(entries, null, 1)}\n`),
};

describe('a history joined from several files', () => {
  it.each(
    Object.keys(WRITERS).flatMap((writer) =>
      Object.keys(OTHER_FORMATS).flatMap((format) => [
        [[writer, format]],
        [[format, writer]],
        [[writer, format, writer]],
      ]),
    ),
  )('of which some are not zstd contains everything of each: %j', async (names) => {
    const sources = await Promise.all(names.map((_, index) => hiFile(2, `part${index}`)));
    const bytes = Buffer.concat(
      names.map((name, index) => {
        const { entries, bytes } = sources[index] ?? { entries: [], bytes: Buffer.alloc(0) };
        return WRITERS[name]?.(entries, bytes) ?? OTHER_FORMATS[name]?.(entries) ?? bytes;
      }),
    );
    const { entries, told, kept } = await outcomeOf(bytes);
    expect([...texts(entries)].sort()).toEqual(sources.flatMap((source) => texts(source.entries)).sort());
    expect(disorder(entries)).toEqual([]);
    expect(told).toContain(`${names.length} files joined`);
    expect(told).not.toMatch(/damaged\.|missing|left out/);
    expect(kept.map((copy) => copy.equals(bytes))).toEqual([true]);
  });

  it('becomes one conversation with everything of both, and the user is told how many there were', async () => {
    const sources = await Promise.all([3, 1, 5, 2].map((turns, index) => hiFile(turns, `part${index}`)));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...Object.keys(WRITERS)), { minLength: 2, maxLength: 4 }),
        async (writers) => {
          const parts = writers.map((writer, index) => {
            const { entries, bytes } = sources[index] ?? { entries: [], bytes: Buffer.alloc(0) };
            return { entries, bytes: WRITERS[writer]?.(entries, bytes) ?? bytes };
          });
          const bytes = Buffer.concat(parts.map((part) => part.bytes));
          const { entries, told, kept, printed } = await outcomeOf(bytes);
          expect([...texts(entries)].sort()).toEqual(parts.flatMap((part) => texts(part.entries)).sort());
          expect(disorder(entries)).toEqual([]);
          expect(printed).toBe(JSON.stringify(entries));
          expect(told).toContain(`${parts.length} files joined`);
          expect(told).not.toMatch(/damaged\.|missing|left out/);
          expect(kept.map((copy) => copy.equals(bytes))).toEqual([true]);
        },
      ),
      { numRuns: cases(10) },
    );
  });

  it('keeps once what is in several of them', async () => {
    const folder = dataFolder();
    const store = await openIn(folder);
    await exchange(store, 'first', 'one');
    const early = readFileSync(fileIn(folder));
    await exchange(store, 'second', 'two');
    await store.close();
    const late = readFileSync(fileIn(folder));
    for (const bytes of [Buffer.concat([late, late]), Buffer.concat([early, late]), Buffer.concat([late, early])]) {
      const { entries, told } = await outcomeOf(bytes);
      expect(texts(entries)).toEqual(['first', 'one', 'second', 'two']);
      expect(entries.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
      expect(told).toMatch(/2 files joined.*[24] entries were there twice/);
    }
  });

  it('keeps what differs between two copies of one conversation', async () => {
    const folder = dataFolder();
    const store = await openIn(folder);
    await exchange(store, 'first', 'one');
    await store.close();
    const [here, there] = await Promise.all(
      ['here', 'there'].map(async (word) => {
        const copy = dataFolder();
        copyFileSync(fileIn(folder), fileIn(copy));
        const went = await openIn(copy);
        await exchange(went, word, `answer ${word}`);
        await went.close();
        return readFileSync(fileIn(copy));
      }),
    );
    const { entries } = await outcomeOf(Buffer.concat([here ?? Buffer.alloc(0), there ?? Buffer.alloc(0)]));
    expect(texts(entries)).toEqual(['first', 'one', 'here', 'answer here', 'there', 'answer there']);
    expect(disorder(entries)).toEqual([]);
  });

  it('has summaries that still name the messages they rest on', async () => {
    const said = (at: string, id: number, word: string) => [
      { id, turn: id, at: `2026-01-${at}`, cwd: '/', role: 'user', content: [{ type: 'text', text: word }] },
    ];
    const state = { prose: 24, facts: [{ kind: 'fact', text: 'It is PELICAN', ids: [2] }] };
    const block = {
      id: 3,
      at: '2026-01-09',
      type: 'compress',
      content: 'The word is PELICAN [#2]',
      first_kept: null,
      state,
    };
    const bytes = Buffer.concat([
      compressed(JSON.stringify([...said('01', 1, 'one'), ...said('02', 2, 'two'), ...said('03', 3, 'three')])),
      compressed(JSON.stringify([...said('04', 1, 'four'), ...said('05', 2, 'PELICAN'), block])),
    ]);
    const { entries } = await outcomeOf(bytes);
    const id = entries.find((entry) => JSON.stringify(entry).includes('"PELICAN"'))?.id;
    expect(id).not.toBe(2);
    expect(entries.at(-1)).toMatchObject({
      content: `The word is PELICAN [#${id}]`,
      state: { facts: [{ text: 'It is PELICAN', ids: [id] }] },
    });
  });

  it('is in the order of time, in whole turns', async () => {
    const said = (at: string, id: number, word: string) => [
      { id, turn: id, at: `2026-01-${at}`, cwd: '/', role: 'user', content: [{ type: 'text', text: word }] },
      {
        id: id + 1,
        turn: id,
        at: `2026-01-${at}`,
        cwd: '/',
        role: 'assistant',
        content: [{ type: 'text', text: `re ${word}` }],
        stop_reason: 'end',
      },
    ];
    const one = [...said('01T00:00:00Z', 1, 'a'), ...said('03T00:00:00Z', 3, 'c')];
    const other = [...said('02T00:00:00Z', 1, 'b'), ...said('04T00:00:00Z', 3, 'd')];
    const { entries } = await outcomeOf(Buffer.concat([foreignFile(other), foreignFile(one)]));
    expect(texts(entries)).toEqual(['a', 're a', 'b', 're b', 'c', 're c', 'd', 're d']);
    expect(disorder(entries)).toEqual([]);
  });

  it('is noticed before the next message if it was joined under an open history', async () => {
    const other = await hiFile(3, 'other');
    for (const bytes of [other.bytes, foreignFile(other.entries)]) {
      const folder = dataFolder();
      const store = await openIn(folder);
      await exchange(store, 'mine', 'yours');
      appendFileSync(fileIn(folder), bytes);
      await exchange(store, 'and now?', 'on we go');
      const entries = await archived(store);
      expect([...texts(entries)].sort()).toEqual(
        [...texts(other.entries), 'mine', 'yours', 'and now?', 'on we go'].sort(),
      );
      expect(texts(entries).slice(-2)).toEqual(['and now?', 'on we go']);
      expect(disorder(entries)).toEqual([]);
      expect(JSON.parse(printed(folder))).toEqual(entries);
      expect(store.takeNotices()).toEqual([expect.stringContaining('2 files joined')]);
      await store.close();
    }
  });
});
