import { describe, expect, it } from '@jest/globals';
import type { StreamEvent } from '../../../lib/chat/event.js';
import { wholeCharacters } from '../../../lib/session/turn/answer-pieces.js';
import fc from '../../support/properties.js';

async function piecesOf(texts: readonly string[]): Promise<readonly string[]> {
  async function* events(): AsyncGenerator<StreamEvent> {
    for (const text of texts) yield { type: 'text', text };
  }
  const pieces: string[] = [];
  for await (const event of wholeCharacters(events())) if (event.type === 'text') pieces.push(event.text);
  return pieces;
}

const LONGEST = 16_384;

describe('the chunks of an answer', () => {
  it('are the same text without half characters, however it was split', async () => {
    const unit = fc.constantFrom('a', '\u00fc', '\ud83d', '\ude00', '\ud83d\ude00');
    const texts = fc.array(fc.array(unit, { maxLength: 6 }).map((units) => units.join('')));
    await fc.assert(
      fc.asyncProperty(texts, async (cut) => {
        const pieces = await piecesOf(cut);
        expect(pieces.join('')).toBe(cut.join('').toWellFormed());
        expect(pieces.every((piece) => piece !== '' && piece.isWellFormed())).toBe(true);
      }),
    );
  });

  it('are never long, however the server splits them', async () => {
    const length = fc.integer({ min: LONGEST - 3, max: 3 * LONGEST + 3 });
    await fc.assert(
      fc.asyncProperty(length, fc.nat({ max: 2 }), async (count, start) => {
        const text = 'x'.repeat(start) + '\u{1f600}'.repeat(count / 2);
        const pieces = await piecesOf([text]);
        // Not by `toBe`, which would print all of it.
        expect(pieces.join('') === text).toBe(true);
        expect(pieces.every((piece) => piece.isWellFormed() && piece.length <= LONGEST)).toBe(true);
        expect(pieces.length).toBeLessThanOrEqual(1 + text.length / (LONGEST - 1));
      }),
      { numRuns: 20 },
    );
  });

  it('are unchanged otherwise', async () => {
    expect(await piecesOf(['one ', 'two', 'x'.repeat(LONGEST)])).toEqual(['one ', 'two', 'x'.repeat(LONGEST)]);
  });
});
