import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { inOrder } from '../../../lib/recall/disk/dictionary.js';

describe('the order of words', () => {
  it('is that of their bytes', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '\0', '\xff'), maxLength: 7 });
    fc.assert(
      fc.property(fc.uniqueArray(word), (words) => {
        const sorted = inOrder(words.map((one) => ({ word: one }))).map((one) => one.word);
        expect(sorted).toEqual([...words].sort());
      }),
    );
  });
});
