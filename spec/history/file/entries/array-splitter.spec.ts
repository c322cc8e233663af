import { describe, expect, it } from '@jest/globals';
import { ArraySplitter } from '../../../../lib/history/file/entries.js';
import fc from '../../../support/properties.js';

const cut = (bytes: Buffer, places: readonly number[]): Buffer[] => {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((one, other) => one - other);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
};

describe('Splitter', () => {
  it('finds the objects of any array, whatever its white space and pieces', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('\\', '\\\\"', '"{', '}]', '{"a":[', '\u00e9\ud83d\ude00'));
    const object = fc.dictionary(text, fc.oneof(text, fc.integer(), fc.array(fc.dictionary(text, text))));
    fc.assert(
      fc.property(fc.array(object), fc.array(fc.nat()), fc.constantFrom(0, 2), (objects, places, space) => {
        const splitter = new ArraySplitter();
        const pieces = cut(Buffer.from(JSON.stringify(objects, null, space)), places);
        const found = pieces.flatMap((piece) => [...splitter.push(piece)]);
        expect(found.map((one) => JSON.parse(one.toString()))).toEqual(JSON.parse(JSON.stringify(objects)));
        expect(splitter.isWhole).toBe(true);
      }),
    );
  });

  it.each(['', '[', '[{}', '{}', '[{}{}]', '[,{}]', '[{},]', '[{}]]', '[[{}]]', '[1]', '[{}] x', '"[]"'])(
    'takes %j for no array of objects',
    (text) => {
      const splitter = new ArraySplitter();
      for (const _ of splitter.push(Buffer.from(text)));
      expect(splitter.isWhole).toBe(false);
    },
  );

  it.each([
    ['', true],
    ['{}', true],
    ['{}\n{}', true],
    ['[{}]', true],
    ['[{}][{}]', true],
    ['[]\n[]', true],
    ['[{}', false],
    ['{}]{}[', false],
    ['{"a":', false],
    ['[1]', false],
    ['x{}', false],
  ])('says whether %j is whole objects, in whole arrays or in none', (text, isWellFormed) => {
    const splitter = new ArraySplitter();
    for (const _ of splitter.push(Buffer.from(text)));
    expect(splitter.isWellFormed).toBe(isWellFormed);
    expect(splitter.isInside).toBe(text === '{"a":');
    expect(splitter.isObjectLines).toBe(['{}', '{}\n{}', 'x{}'].includes(text));
  });
});
