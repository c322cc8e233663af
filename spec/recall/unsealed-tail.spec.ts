import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Entry } from '../../lib/chat/entry.js';
import { DamagedSegment } from '../../lib/recall/disk/pages.js';
import type { Archive } from '../../lib/recall/index/documents.js';
import { Arena, BEYOND, type IndexPart } from '../../lib/recall/index/part.js';
import { UnsealedTail } from '../../lib/recall/searched-index.js';
import { quickFolder } from '../support/history.js';
import { flip } from '../support/recall.js';

const at = '2026-01-01T00:00:00.000Z';
const said = (id: number, text: string): Entry => ({
  id,
  turn: id,
  at,
  cwd: '/',
  role: 'user',
  content: [{ type: 'text', text }],
});
const entries: readonly Entry[] = [
  said(1, 'the first words'),
  said(2, 'the second words'),
  { id: 3, at, type: 'undo', turns: [1] },
  said(4, 'the third words'),
];

const WORDS = ['birch', 'cedar', 'fjord', 'lagoon', 'quartz', 'onyx'];
const ANYTIME = () => true;

const unchanged: Pick<Archive, 'ifCurrent'> = {
  async ifCurrent(work) {
    work();
    return true;
  },
};

/** The ids of the messages that have each word. */
function found(tail: UnsealedTail): readonly (readonly number[])[] {
  const idsIn = (part: IndexPart, number: number, word: string) =>
    (part.find(word)?.lists(new Arena()) ?? []).flatMap((list) => {
      const count = list.readBelow(BEYOND);
      const { first } = list;
      return Array.from(list.documents.slice(first, first + count), (local) => tail.message(number, local)?.id ?? 0);
    });
  return WORDS.map((word) =>
    tail.parts.flatMap((part, number) => idsIn(part, number, word)).sort((one, other) => one - other),
  );
}

const counted = (all: readonly Entry[]): readonly (readonly number[])[] =>
  WORDS.map((word) => all.filter((entry) => JSON.stringify(entry).includes(word)).map(({ id }) => id));

/** What may happen to the end of a conversation, and to what is kept of it. */
type Step =
  | { readonly kind: 'say'; readonly words: readonly string[]; readonly length: number }
  | { readonly kind: 'keep' | 'restart' | 'undo' | 'delete' | 'damage' | 'forget' | 'seal'; readonly place: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('say' as const),
    words: fc.subarray(WORDS),
    length: fc.constantFrom(0, 3000, 40_000),
  }),
  fc.record({
    kind: fc.constantFrom('keep', 'keep', 'restart', 'undo', 'delete', 'damage', 'forget', 'seal'),
    place: fc.nat(10_000),
  }),
);

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder)
    .sort()
    .map((name) => join(folder, name));

/** The tail of a new process, which may be told that a file is damaged. */
function opened(all: readonly Entry[], folder: string): UnsealedTail {
  for (const believes of [true, false]) {
    const tail = new UnsealedTail(all, folder, believes);
    try {
      tail.add(all, ANYTIME);
      found(tail);
      return tail;
    } catch (thrown) {
      if (!(thrown instanceof DamagedSegment)) throw thrown;
      expect(tail.areFilesSound()).toBe(false);
      tail.close();
    }
  }
  throw new Error('A tail that believes no file was damaged.');
}

/** The conversation after a step; what is on disk changes with it. */
function after(all: readonly Entry[], one: Step, folder: string): readonly Entry[] {
  const next = (all.at(-1)?.id ?? 0) + 1;
  if (one.kind === 'say') return [...all, said(next, `${one.words.join(' ')} ${'x'.repeat(one.length)}`)];
  const place = one.place % Math.max(1, all.length);
  if (one.kind === 'undo') return [...all, { id: next, at, type: 'undo', turns: [place] }];
  if (one.kind === 'forget') return all.map((entry, index) => (index === place ? said(entry.id, 'onyx') : entry));
  if (one.kind === 'seal') return all.slice(place);
  const files = filesIn(folder);
  const file = files[one.place % Math.max(1, files.length)];
  if (file !== undefined && one.kind === 'delete') rmSync(file);
  if (file !== undefined && one.kind === 'damage') flip(file, one.place % readFileSync(file).length);
  return all;
}

describe('messages that are in no segment yet', () => {
  it('are indexed as long as there is time, and undone ones are recognised even without', () => {
    const tail = new UnsealedTail(entries, quickFolder());
    let left = 1;
    expect(tail.add(entries, () => left-- > 0)).toBe(false);
    expect(tail.messages.map(({ id }) => id)).toEqual([1]);
    expect(tail.undone).toEqual([1]);
    expect(tail.add(entries, ANYTIME)).toBe(true);
    expect(tail.messages.map(({ id }) => id)).toEqual([1, 2, 4]);
    expect(tail.undone).toEqual([1]);
  });

  it('are found like by plain counting, whatever is cached, and whatever happens to the cache', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
        const folder = quickFolder();
        let all: readonly Entry[] = [];
        let tail = opened(all, folder);
        for (const one of steps) {
          if (one.kind === 'keep') await tail.keep(unchanged);
          else all = after(all, one, folder);
          if (one.kind !== 'say' && one.kind !== 'keep' && one.kind !== 'undo') {
            tail.close();
            tail = opened(all, folder);
          }
          expect(tail.add(all, ANYTIME)).toBe(true);
          expect(found(tail)).toEqual(counted(all));
          expect(tail.undone).toEqual(
            all.flatMap((entry) => ('type' in entry && entry.type === 'undo' ? entry.turns : [])),
          );
        }
        tail.close();
      }),
    );
  });

  it('are not split into words again by the next process, and sealed ones leave no file', async () => {
    const folder = quickFolder();
    const long = [said(1, 'a'.repeat(10)), said(2, `birch ${'b '.repeat(20_000)}`), said(3, 'cedar')];
    const tail = new UnsealedTail(long, folder);
    tail.add(long, ANYTIME);
    await tail.keep(unchanged);
    const next = new UnsealedTail(long, folder);
    expect(next.add(long, () => false)).toBe(true);
    expect(found(next)).toEqual(counted(long));
    const more = [...long, said(4, `fjord ${'d '.repeat(20_000)}`)].slice(2);
    const sealed = new UnsealedTail(more, folder);
    sealed.add(more, ANYTIME);
    await sealed.keep(unchanged);
    expect(filesIn(folder).map((path) => path.slice(folder.length))).toEqual(['/tail-3.seg']);
    writeFileSync(join(folder, 'tail-3.seg'), '');
    expect(found(opened(more, folder))).toEqual(counted(more));
  });
});
