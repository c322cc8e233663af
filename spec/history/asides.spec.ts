import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { NewCompressBlock } from '../../lib/chat/entry.js';
import { asTokens } from '../../lib/chat/request.js';
import type { HistoryStore } from '../../lib/history/store.js';
import { answers, archived, exchange, openIn, quickFolder, says } from '../support/history.js';
import { cases } from '../support/properties.js';

let folder: string;
beforeEach(() => {
  folder = quickFolder();
});
afterEach(() => rmSync(folder, { recursive: true }));

const idsIn = (store: HistoryStore): readonly number[] => store.view(null).messages.map(({ id }) => id);

/** Leaves the last exchange in view. */
async function compact(store: HistoryStore): Promise<void> {
  const write = async function* (entries: readonly { readonly id: number }[]) {
    yield* [];
    const first_kept = entries.at(-2)?.id ?? null;
    const sizes = { messages_compacted: 1, messages_kept: 2, tokens_before: asTokens(9), tokens_after: asTokens(8) };
    const block: NewCompressBlock = {
      ...{ type: 'compress', content: 'sum', strategy: 'summary', source: 'model', first_kept, ...sizes },
    };
    return entries.length < 2 ? null : block;
  };
  for await (const _ of store.compact(null, write, 'keep'));
}

type Step = 'talk' | 'aside' | 'undo' | 'compact' | 'reopen';
const step = fc.constantFrom<Step>('talk', 'talk', 'aside', 'aside', 'undo', 'compact', 'reopen');

describe('an aside', () => {
  it('changes no view of the conversation, whatever else happens, and is in the archive', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const [withAsides, without] = [quickFolder(), quickFolder()];
        const stores = [await openIn(withAsides), await openIn(without)];
        let asides = 0;
        for (const [at, name] of steps.entries()) {
          if (name === 'aside') {
            const aside = await openIn(withAsides, { aside: true });
            expect(aside.view(null).messages).toEqual([]);
            await exchange(aside, `aside ${at}`, 'yes');
            if (at % 2 === 0) await compact(aside);
            if (at % 3 === 0) await aside.undo(aside.entries[0]?.id ?? 0);
            await aside.close();
            asides += 1;
          }
          for (const [index, store] of stores.entries()) {
            await store.refresh();
            const last = store.view(null).messages.at(-1);
            if (name === 'talk') await exchange(store, `question ${at}`, `answer ${at}`);
            if (name === 'undo' && last !== undefined) await store.undo(last.turn);
            if (name === 'compact') await compact(store);
            if (name === 'reopen') {
              await store.close();
              stores[index] = await openIn(index === 0 ? withAsides : without);
            }
          }
          const [texts, plain] = stores.map((store) => {
            const { block, messages } = store.view(null);
            return [block?.content, store.unloaded, ...messages.map(({ content }) => content)];
          });
          expect(texts).toEqual(plain);
        }
        const all = JSON.stringify(await archived(stores[0] as HistoryStore));
        expect(all.split('"aside ').length - 1).toBe(asides);
        for (const store of stores) await store.close();
      }),
      { numRuns: cases(30) },
    );
  });

  it('sees what its own process says in it, also if another one compacts the conversation meanwhile', async () => {
    const store = await openIn(folder);
    for (let turn = 0; turn < 5; turn += 1) await exchange(store, 'a', 'b');
    const aside = await openIn(folder, { aside: true });
    const asked = await aside.begin(says('by the way'));
    await exchange(store, 'c', 'd');
    await compact(store);
    await aside.append(asked.id, [answers('yes')]);
    await aside.refresh();
    expect(idsIn(aside)).toEqual([asked.id, asked.id + 4]);
    await store.refresh();
    expect(idsIn(store)).toEqual([asked.id + 1, asked.id + 2]);
    await aside.close();
    await store.close();
  });
});
