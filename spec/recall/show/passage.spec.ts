import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { marked, passageOf } from '../../../lib/recall/show/passage.js';

const shown = (text: string, query: string, phrases: readonly string[] = [], length = 60): string =>
  marked(passageOf(text, query, phrases, length), (word) => `[${word}]`);

describe('a passage', () => {
  it('marks the words in whatever form they are there', () => {
    expect(shown('We painted it in Zürich.', 'painting zurich')).toBe('We [painted] it in [Zürich].');
  });

  it('marks a phrase just so', () => {
    expect(shown('reset by peer, by Peer', 'x', ['by peer'])).toBe('reset [by peer], by Peer');
  });

  it('is cut where most of the words are', () => {
    const text = `${'filler '.repeat(40)}the espresso machine broke${' filler'.repeat(40)} machine`;
    const passage = shown(text, 'espresso machine');
    expect(passage).toContain('[espresso] [machine] broke');
    expect(passage).toMatch(/^… .* …$/);
  });

  it('is one line of about the length that is wanted, with its marks inside', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), fc.string({ maxLength: 20 }), (text, query) => {
        const passage = passageOf(text, query, [], 60);
        expect(passage.text).not.toMatch(/[\n\r\t]/);
        expect(passage.text.length).toBeLessThanOrEqual(66);
        for (const { start, end } of passage.marks) expect(start < end && end <= passage.text.length).toBe(true);
      }),
    );
  });
});
