import { existsSync, rmSync } from 'node:fs';
import { describe, expect, it, jest } from '@jest/globals';
import type { Entry } from '../../lib/chat/entry.js';
import type { NewMessage } from '../../lib/chat/message.js';
import { answers, archived, fileIn, openIn, printed, quickFolder, says } from '../support/history.js';
import fc, { cases } from '../support/properties.js';
import { prose } from '../support/prose.js';

/** What may be done to a history, one after another. */
type Step =
  | { readonly do: 'turn'; readonly sizes: readonly number[] }
  | { readonly do: 'text'; readonly text: string }
  | { readonly do: 'note' | 'undo' | 'reopen' | 'other' | 'reset' | 'back' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('turn' as const), sizes: fc.array(fc.nat(3000), { maxLength: 4 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('turn' as const), sizes: fc.array(fc.nat(90_000), { maxLength: 3 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('text' as const), text: fc.string({ unit: 'binary', maxLength: 60 }) }),
  },
  { weight: 1, arbitrary: fc.constantFrom({ do: 'note' as const }, { do: 'undo' as const }, { do: 'reset' as const }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom({ do: 'reopen' as const }, { do: 'other' as const }, { do: 'back' as const }),
  },
);

// Many processes and files on what may be a busy machine.
jest.setTimeout(180_000);

describe('a history', () => {
  it('always contains what a plain array would, and zstd prints exactly that', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const folder = quickFolder();
        let store = await openIn(folder);
        let model: Entry[] = [];
        let aside: Entry[] | null = null;
        const add = (...entries: readonly Entry[]): void => void model.push(...entries);
        const turn = async (question: NewMessage, answer: readonly NewMessage[]): Promise<void> => {
          const asked = await store.begin(question);
          add(asked, ...(await store.append(asked.id, answer)));
        };
        for (const [index, one] of steps.entries()) {
          switch (one.do) {
            case 'turn':
              await turn(
                says(prose(20, index)),
                [...one.sizes, 1].map((size, at) => answers(prose(size, index + at))),
              );
              break;
            case 'text':
              // Half of a surrogate pair is in every other string: JSON must stay valid UTF-8.
              await turn(says(`${one.text}\ud800`), [answers(one.text)]);
              break;
            case 'note':
              add(await store.note(says('$ ls')));
              break;
            case 'undo':
              await store.undo(1);
              add({ id: (model.at(-1)?.id ?? 0) + 1, at: '2026-11-22T10:00:00.000Z', type: 'undo', turns: [1] });
              break;
            case 'reopen':
              await store.close();
              store = await openIn(folder);
              break;
            case 'other': {
              const other = await openIn(folder);
              add(await other.note(says(prose(500, index))));
              await other.close();
              break;
            }
            case 'reset':
              if (model.length > 0) aside = model;
              model = [];
              await store.reset({ purge: false });
              break;
            case 'back':
              if (aside === null) break;
              [model, aside] = [aside, model.length > 0 ? model : null];
              await store.undoReset();
              break;
          }
          expect(existsSync(fileIn(folder))).toBe(model.length > 0);
          if (model.length > 0) expect(printed(folder) === JSON.stringify(model)).toBe(true);
        }
        await store.refresh();
        expect(JSON.stringify(await archived(store)) === JSON.stringify(model)).toBe(true);
        expect(JSON.stringify(store.entries) === JSON.stringify(model)).toBe(true);
        expect(store.totals.messages).toBe(model.filter((entry) => !('type' in entry)).length);
        expect(await store.verify()).toEqual({ entries: model.length, problems: [] });
        expect(store.takeNotices()).toEqual([]);
        await store.close();
        rmSync(folder, { recursive: true });
      }),
      { numRuns: cases(10) },
    );
  });

  it('keeps a message of 10 MB', async () => {
    const folder = quickFolder();
    const store = await openIn(folder);
    const random = Buffer.from(Array.from({ length: 500_000 }, (_, index) => (index * 2654435761) >>> 13));
    const said = [];
    for (const text of [prose(500_000, 1).repeat(20), random.toString('base64').repeat(16), 'short']) {
      const asked = await store.begin(says(text));
      said.push(asked, ...(await store.append(asked.id, [answers(text)])));
      expect(printed(folder) === JSON.stringify(said)).toBe(true);
    }
    const later = await openIn(folder);
    // More characters than any window holds are not loaded at once.
    expect(later.entries.length).toBeLessThan(said.length);
    expect(JSON.stringify(await archived(later)) === JSON.stringify(said)).toBe(true);
    rmSync(folder, { recursive: true });
  });
});
