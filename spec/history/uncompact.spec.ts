import { rmSync } from 'node:fs';
import { describe, expect, it, jest } from '@jest/globals';
import type { NewCompressBlock } from '../../lib/chat/entry.js';
import { asTokens } from '../../lib/chat/request.js';
import { Damaged } from '../../lib/history/file/frames.js';
import { LogFile } from '../../lib/history/file/log-file.js';
import type { HistoryStore } from '../../lib/history/store.js';
import { uncompact } from '../../lib/session/compactions.js';
import type { Measure } from '../../lib/view/measure.js';
import { answers, exchange, openIn, printed, quickFolder, says } from '../support/history.js';
import { prose } from '../support/prose.js';

const MEASURE: Measure = {
  context_tokens: asTokens(0),
  estimated_tokens: asTokens(0),
  trigger: asTokens(10_000_000),
  due: false,
  warning: null,
};

const idsIn = (store: HistoryStore): readonly number[] => store.view(null).messages.map(({ id }) => id);

/** Replaces everything before a message by a block. */
async function compact(store: HistoryStore, first_kept: number): Promise<void> {
  const sizes = { messages_compacted: 1, messages_kept: 1, tokens_before: asTokens(9), tokens_after: asTokens(8) };
  const block: NewCompressBlock = {
    ...{ type: 'compress', content: 'sum', strategy: 'summary', source: 'model', first_kept, ...sizes },
    state: { cut: { turn: first_kept, id: first_kept } },
  };
  const write = async function* () {
    yield* [];
    return block;
  };
  for await (const _ of store.compact(null, write, 'keep'));
}

describe('a compaction that is taken back', () => {
  it('restores the same messages in every process, whether it had them loaded or not, and in the next one', async () => {
    const folder = quickFolder();
    const store = await openIn(folder);
    const talk = async (turns: number): Promise<void> => {
      for (let turn = 0; turn < turns; turn += 1) {
        const asked = await store.begin(says(prose(60_000, turn)));
        await store.append(asked.id, [answers(prose(60_000, turn + 50))]);
      }
    };
    await talk(12);
    const all = idsIn(store);
    await compact(store, 9);
    const middle = idsIn(store);
    await talk(3);
    await compact(store, 23);
    const newest = idsIn(store);
    expect([middle[0], newest[0]]).toEqual([9, 23]);
    const other = await openIn(folder);
    const acting = await openIn(folder);
    for (const first of [9, 1]) {
      await uncompact(acting, MEASURE, 1);
      const fresh = await openIn(folder);
      await other.refresh();
      await store.refresh();
      for (const one of [acting, fresh, other, store]) expect(idsIn(one)[0]).toBe(first);
      for (const one of [fresh, other, store]) expect(idsIn(one)).toEqual(idsIn(acting));
      await fresh.close();
      // Another process writes and seals: the next start reads as much as is needed.
      const said = await other.begin(says('next'));
      await other.append(said.id, [answers(prose(300_000, first))]);
      const later = await openIn(folder);
      expect(idsIn(later)).toEqual(idsIn(other));
      await later.close();
    }
    expect(idsIn(other).slice(0, all.length)).toEqual(all);
    await expect(uncompact(acting, MEASURE, 1)).rejects.toThrow('There is no compaction to undo.');
    const stored: readonly { readonly type?: string; readonly restores?: number }[] = JSON.parse(printed(folder));
    expect(stored.flatMap(({ restores }) => (restores === undefined ? [] : [restores])).length).toBe(2);
    for (const one of [acting, other, store]) await one.close();
    rmSync(folder, { recursive: true });
  });

  it('restores them if another process seals the end of the file in that moment', async () => {
    const folder = quickFolder();
    const store = await openIn(folder);
    for (let turn = 0; turn < 6; turn += 1) await exchange(store, prose(60_000, turn), prose(60_000, turn + 50));
    await compact(store, 9);
    const [acting, other] = [await openIn(folder), await openIn(folder)];
    await uncompact(acting, MEASURE, 1);
    jest.spyOn(LogFile.prototype, 'between').mockImplementationOnce(() => {
      throw new Damaged('Another process seals the end.');
    });
    await other.refresh();
    expect(idsIn(other)).toEqual(Array.from({ length: 12 }, (_, index) => index + 1));
    for (const one of [acting, other, store]) await one.close();
    rmSync(folder, { recursive: true });
  });
});
