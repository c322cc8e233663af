import { describe, expect, it } from '@jest/globals';
import { countBytes } from '../../../lib/tools/shell/limit-output.js';
import fc from '../../support/properties.js';

/**
 * The counts of a text that comes in pieces of these sizes, the first of which begins this many bytes after a whole
 * number.
 */
function counted(text: string, sizes: readonly number[], shift: number): readonly [number, number] {
  const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(text)]).subarray(shift);
  let characters = 0;
  let lines = 0;
  for (let from = 0, piece = 0; from < bytes.length; piece += 1) {
    const size = sizes[piece % sizes.length] ?? bytes.length;
    const counts = countBytes(bytes.subarray(from, from + size));
    characters += counts.characters;
    lines += counts.lines;
    from += size;
  }
  return [characters, lines];
}

describe('the bytes of an output', () => {
  it('have as many characters and lines as their text, however they are split', () => {
    const character = fc.constantFrom('a', '\n', '\r', '\t', '\u007f', '\u0080', 'é', 'ÿ', '天', '\uffff', '🙂', '🇫');
    const text = fc.array(character, { maxLength: 80 }).map((characters) => characters.join(''));
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(text, sizes, fc.nat(3), (all, pieces, shift) => {
        expect(counted(all, pieces, shift)).toEqual([all.length, all.split('\n').length - 1]);
      }),
      { numRuns: 500 },
    );
  });

  it('have a line for each newline byte, and for no other', () => {
    for (let byte = 0; byte < 256; byte += 1)
      for (let place = 0; place < 4; place += 1) {
        const bytes = Buffer.alloc(8, 'x');
        bytes[place] = byte;
        expect([byte, countBytes(bytes).lines]).toEqual([byte, byte === 10 ? 1 : 0]);
      }
  });
});
