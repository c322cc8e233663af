import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { asBytes, BlockIndex, packBlocks } from '../../../lib/recall/disk/dictionary.js';

describe('the index of the blocks of a dictionary', () => {
  it('finds the last block that begins up to a word, in the order of bytes', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'z', 'ü', '语', '😀'), minLength: 1, maxLength: 7 });
    fc.assert(
      fc.property(fc.uniqueArray(word, { maxLength: 60, size: 'max' }), word, (words, wanted) => {
        const sorted = words.map((one) => asBytes(one)).sort();
        const blocks = sorted.map((one, index) => ({ word: one, start: 7 * index, postings: 2 ** 33 * index }));
        const index = new BlockIndex(Buffer.from(Uint8Array.from(packBlocks(blocks)).buffer));
        for (const one of [...words, wanted]) {
          const last = index.lastUpTo(Buffer.from(one));
          expect(last).toBe(sorted.filter((other) => other <= asBytes(one)).length - 1);
          expect([index.startOf(last), index.postingsOf(last)]).toEqual(last < 0 ? [0, 0] : [7 * last, 2 ** 33 * last]);
        }
        expect(index.count).toBe(words.length);
      }),
    );
  });
});
