import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Vocabulary } from '../../../lib/recall/index/collector.js';
import { words } from '../../../lib/recall/words/words.js';

describe('the numbers of words', () => {
  const piece = fc.constantFrom(
    ...['Painting', 'paints', 'PAINT', "don't", 'the', 'The', 'hi.js', 'user_id', 'Zürich', 'é', '数据库', '😀', 'ﷺ'],
    ...['.', '-', "'", '’', ' ', '\n', '42', 'ab1', 'q'.repeat(64), 'q'.repeat(65)],
  );
  const texts = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
  const wordsIn = (vocabulary: Vocabulary, text: string): readonly string[] => {
    const found: string[] = [];
    vocabulary.each(text, (number) => found.push(vocabulary.word(number)));
    return found;
  };

  it('identify the words of a text, whatever was looked up before', () => {
    fc.assert(
      fc.property(texts, texts, (before, text) => {
        const vocabulary = new Vocabulary();
        wordsIn(vocabulary, before);
        expect(wordsIn(vocabulary, text)).toEqual(words(text));
        for (const word of words(text)) expect(vocabulary.word(vocabulary.find(word) ?? -1)).toBe(word);
      }),
      { numRuns: 300 },
    );
  });

  it('are as many as the words', () => {
    const vocabulary = new Vocabulary();
    const letter = (digit: string): string => String.fromCharCode(113 + Number(digit));
    const many = Array.from({ length: 20_000 }, (_, index) => index.toString(26).replaceAll(/\d/g, letter));
    expect(wordsIn(vocabulary, many.join(' '))).toEqual(words(many.join(' ')));
    expect(wordsIn(vocabulary, many.join(' '))).toEqual(words(many.join(' ')));
    expect(vocabulary.isFull).toBe(true);
  });
});
