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
      for (const one of [known, new KnownTurns(Buffer.from(known.all))]) {
        for (const name of names) {
          expect(one.has(name)).toBe(expected.has(name));
          expect(one.idOf(name)).toBe(expected.get(name) || null);
        }
      }
    }),
    { numRuns: 30 },
  );
});

it('takes the bytes of two records together for no name', () => {
  const names = Array.from({ length: 3 }, newUid);
  const known = new KnownTurns();
  for (const [at, name] of names.entries()) known.add(name, at === 1 ? 0 : 2 ** 50 + at);
  for (let at = 1; at < 16; at += 1) expect(known.has(known.all.toString('base64url', 16 + at, 24 + at))).toBe(false);
  for (const name of names) expect(known.has(name)).toBe(true);
});
