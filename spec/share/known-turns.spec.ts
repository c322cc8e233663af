import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { newUid } from '../../lib/chat/message.js';
import { KnownTurns } from '../../lib/share/known-turns.js';

it('knows each turn by its last id, and what was stored is known again', () => {
  const names = Array.from({ length: 300 }, newUid);
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(299), fc.integer({ min: 0, max: 2 ** 50 }))), (added) => {
      const known = new KnownTurns();
      const expected = new Map<string, number>();
      for (const [name, id] of added) {
        known.add(names[name] ?? '', id);
        expected.set(names[name] ?? '', id);
      }
      for (const one of [known, storedIn(known)]) {
        for (const name of names) {
          expect(one.has(name)).toBe(expected.has(name));
          expect(one.idOf(name)).toBe(expected.get(name) || null);
        }
      }
    }),
    { numRuns: 30 },
  );
});

it('reads what was stored only where something is looked up in it', () => {
  const names = Array.from({ length: 40 }, newUid);
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(39), fc.nat(60))), fc.nat(60), (added, last) => {
      const before = new KnownTurns();
      for (const [name, id] of added) if (id <= last) before.add(names[name] ?? '', id);
      let reads = 0;
      const known = storedIn(before, last, () => {
        reads += 1;
      });
      const other = storedIn(before);
      const [stay, mine] = [newUid(), newUid()];
      known.add(mine, last + 1);
      expect([known.idOf(mine), known.nameOf(last + 1), known.count - before.count]).toEqual([last + 1, mine, 1]);
      expect([reads, known.added.length]).toEqual([0, 16]);
      other.add(mine, last + 1);
      for (const [name, id] of added) for (const one of [known, other]) one.add(names[name] ?? '', id);
      for (const name of [...names, mine, stay]) expect(known.idOf(name)).toBe(other.idOf(name));
      expect([known.has(stay), reads]).toEqual([false, 1]);
      expect(known.all).toEqual(other.all);
      expect(known.added).toEqual(known.all.subarray(16 * before.count));
    }),
    { numRuns: 100 },
  );
});

/** What a later exchange knows of what was stored. */
function storedIn({ count, all }: KnownTurns, last = 2 ** 50, onRead?: () => void): KnownTurns {
  const bytes = Buffer.from(all);
  return new KnownTurns({
    count,
    last,
    read: () => {
      onRead?.();
      return bytes;
    },
  });
}

it('takes the bytes of two records together for no name', () => {
  const names = Array.from({ length: 3 }, newUid);
  const known = new KnownTurns();
  for (const [at, name] of names.entries()) known.add(name, at === 1 ? 0 : 2 ** 50 + at);
  for (let at = 1; at < 16; at += 1) expect(known.has(known.all.toString('base64url', 16 + at, 24 + at))).toBe(false);
  for (const name of names) expect(known.has(name)).toBe(true);
});
