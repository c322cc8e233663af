import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { KnownMessages } from '../../lib/books/known.js';

it('a message is known by its conversation and id, or by its id, time, author and words', () => {
  const message = fc.record({
    thread: fc.constantFrom('a', 'b', 'c'),
    id: fc.nat(900).map(String),
    at: fc.constantFrom('', '2025-01-01T00:00:00.000Z', '2025-01-02T00:00:00.000Z'),
    role: fc.constantFrom('user' as const, 'assistant' as const),
    text: fc.constantFrom('yes', 'no'),
  });
  fc.assert(
    fc.property(fc.array(message, { minLength: 500, maxLength: 2500 }), (messages) => {
      const [known, expected] = [new KnownMessages(), new Set<string>()];
      for (const one of messages) {
        const { thread, id, at, role, text } = one;
        const keys = [JSON.stringify([thread, id]), ...(at === '' ? [] : [JSON.stringify([id, at, role, text])])];
        const isNew = !keys.some((key) => expected.has(key));
        for (const key of keys) expected.add(key);
        expect(known.add(one)).toBe(isNew);
      }
    }),
    { numRuns: 5 },
  );
});
