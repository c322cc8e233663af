import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { isCompressBlock, isMessage } from '../../lib/chat/entry.js';
import type { ChatEvent, CompactionReport } from '../../lib/chat/event.js';
import type { CompactionInput } from '../../lib/compaction/strategy.js';
import type { HistoryStore } from '../../lib/history/store.js';
import { compactHistory } from '../../lib/session/context/compaction-ahead.js';
import { SETTINGS } from '../support/compaction.js';
import { archived, dataFolder, exchange, fileIn, openIn, printed, says } from '../support/history.js';
import { prose } from '../support/prose.js';

type Pass = Omit<CompactionInput, 'entries'>;

const INPUT: Pass = { running: null, fixed_tokens: 0, settings: SETTINGS, reason: 'manual', focus: null };
const DISCARD: Pass = { ...INPUT, settings: { ...SETTINGS, archive: 'discard' } };

const NO_CACHE = { get: async () => null, put: async () => {} };

function truncate(store: HistoryStore, input: Pass) {
  const settings = { ...input.settings, strategy: 'truncate' };
  return compactHistory(
    store,
    { ...input, settings },
    { models: [], cache: NO_CACHE, effects: {} },
    new AbortController().signal,
  );
}

async function truncated(store: HistoryStore, input: Pass = INPUT) {
  const events: ChatEvent[] = [];
  const running = truncate(store, input);
  for (;;) {
    const { done, value } = await running.next();
    if (done) return { report: value, events };
    events.push(value);
  }
}

async function long(folder: string, turns: number, characters = 100): Promise<HistoryStore> {
  const store = await openIn(folder);
  for (let turn = 0; turn < turns; turn += 1) await exchange(store, `question ${turn}`, prose(characters, turn));
  return store;
}

const idsOf = (entries: readonly { readonly id: number }[]): number[] => entries.map(({ id }) => id);

describe('a compaction of the history', () => {
  it('is one more entry, shortens the view and is reported', async () => {
    const folder = dataFolder();
    const store = await long(folder, 10);
    const before = await archived(store);
    const { report, events } = await truncated(store);
    const expected: Partial<CompactionReport> = { strategy: 'truncate', messages_compacted: 10, messages_kept: 10 };
    expect(report).toMatchObject(expected);
    expect(events.at(-1)).toEqual({ type: 'compact', ...report });
    expect(store.view(null).messages).toEqual(before.slice(10));
    const after = await archived(store);
    expect(after.slice(0, 20)).toEqual(before);
    expect(after.slice(20).map(isCompressBlock)).toEqual([true]);
    expect(store.totals).toMatchObject({ messages: 20, compactions: 1, last_compaction: '2026-11-22T10:00:00.000Z' });
    expect(printed(folder)).toBe(JSON.stringify(after));
  });

  it('makes the next start read no more than the view needs', async () => {
    const folder = dataFolder();
    const store = await long(folder, 40, 30_000);
    await truncated(store);
    const later = await openIn(folder);
    expect(idsOf(later.view(null).messages)).toEqual(idsOf(store.view(null).messages));
    expect(later.entries.length).toBeLessThan(60);
    expect(later.totals).toEqual(store.totals);
    expect(idsOf(await archived(later))).toEqual(Array.from({ length: 81 }, (_, index) => index + 1));
    expect(idsOf(await later.newest(70))).toEqual(Array.from({ length: 71 }, (_, index) => index + 11));
  });

  it('that another process made first is not repeated', async () => {
    const folder = dataFolder();
    const one = await long(folder, 10);
    const other = await openIn(folder);
    const running = truncate(one, INPUT);
    const slow = await running.next();
    expect(slow.done).toBe(false);
    await truncated(other);
    const events = [];
    for await (const event of running) events.push(event);
    expect(events).toEqual([expect.objectContaining({ type: 'notice' })]);
    expect((await archived(one)).filter(isCompressBlock)).toHaveLength(1);
  });

  it('of an ephemeral history stays in memory', async () => {
    const folder = dataFolder();
    await (await long(folder, 10)).close();
    const before = printed(folder);
    const store = await openIn(folder, { ephemeral: true });
    await truncated(store, DISCARD);
    expect(store.view(null).messages).toHaveLength(10);
    expect(printed(folder)).toBe(before);
  });

  it('with archive "discard" removes the originals and leaves an intact array', async () => {
    const folder = dataFolder();
    const store = await long(folder, 40, 10_000);
    const size = statSync(fileIn(folder)).size;
    await truncated(store, DISCARD);
    const left = await archived(store);
    expect(idsOf(left.filter(isMessage))).toEqual(idsOf(store.view(null).messages));
    expect(printed(folder) === JSON.stringify(left)).toBe(true);
    expect(statSync(fileIn(folder)).size).toBeLessThan(size * 0.7);
    await exchange(store, 'more', 'yes');
    const later = await openIn(folder);
    expect(idsOf(later.view(null).messages)).toEqual(idsOf(store.view(null).messages));
    expect(await store.verify()).toEqual({ entries: left.length + 2, problems: [] });
  });

  it('with archive "discard" removes the images that nothing refers to any more', async () => {
    const folder = dataFolder();
    const store = await openIn(folder);
    const image = async (name: string) => {
      const sha256 = await store.attachments.add(Buffer.from(name));
      const part = { type: 'image', mime: 'image/png', sha256, bytes: name.length } as const;
      await store.note({ ...says('look'), content: [part] });
      return sha256;
    };
    const old = await image('the old one');
    for (let turn = 0; turn < 10; turn += 1) await exchange(store, `question ${turn}`, 'yes');
    const recent = await image('the new one');
    const pending = await store.attachments.add(Buffer.from('not yet sent'));
    await truncated(store, DISCARD);
    expect(existsSync(join(folder, 'attachments', old))).toBe(false);
    expect(await store.attachments.get(recent)).toEqual(Buffer.from('the new one'));
    expect(await store.attachments.get(pending)).toEqual(Buffer.from('not yet sent'));
    expect(readdirSync(join(folder, 'attachments'))).toHaveLength(3);
  });
});
