import { describe, expect, it } from '@jest/globals';
import { firstCharacters, lastCharacters } from '../../../lib/chat/text.js';
import fc from '../../support/properties.js';

describe('a cut through a text', () => {
  it('takes as many characters as asked for from either end', () => {
    expect(firstCharacters('abcdef', 2)).toBe('ab');
    expect(lastCharacters('abcdef', 2)).toBe('ef');
    expect([firstCharacters('ab', 5), lastCharacters('ab', 5)]).toEqual(['ab', 'ab']);
    expect([firstCharacters('ab', 0), lastCharacters('ab', 0)]).toEqual(['', '']);
  });

  it('leaves out a character that it would split', () => {
    expect(firstCharacters('a😀b', 2)).toBe('a');
    expect(lastCharacters('a😀b', 2)).toBe('b');
  });

  it('never splits a character, wherever it falls', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(text, fc.nat(20), (whole, length) => {
        const [first, last] = [firstCharacters(whole, length), lastCharacters(whole, length)];
        expect(whole.startsWith(first) && whole.endsWith(last)).toBe(true);
        expect(/\p{Surrogate}/u.test(first + last)).toBe(false);
        expect(Math.max(first.length, last.length)).toBeLessThanOrEqual(length);
      }),
    );
  });
});
