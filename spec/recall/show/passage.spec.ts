import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { marked, matchesIn, passageOf } from '../../../lib/recall/show/passage.js';

const markedText = (text: string, query: string, mark: (word: string) => string): string =>
  marked({ text, marks: matchesIn(text, query) }, mark);
const shown = (text: string, query: string, phrases: readonly string[] = [], length = 60): string =>
  marked(passageOf(text, query, phrases, length), (word) => `[${word}]`);

describe('a passage', () => {
  it('marks the words in any form', () => {
    expect(shown('We painted it in Zürich.', 'painting zurich')).toBe('We [painted] it in [Zürich].');
  });

  it('marks a phrase exactly, anywhere, in any case and across lines', () => {
    expect(shown('reset by peer, by Peer', 'x', ['by peer'])).toBe('reset [by peer], [by Peer]');
    expect(shown('reset by\n  peer, bypeer', 'x', ['by peer'])).toBe('reset [by peer], bypeer');
  });

  it('marks any phrase without changing the text', () => {
    const phrases = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).filter((text) => text.trim() !== '');
    fc.assert(
      fc.property(phrases, fc.string({ maxLength: 8 }), (phrase, end) => {
        const text = `. ${phrase}${end}`;
        expect(markedText(text, `"${phrase}" "${end}"`, (word) => word)).toBe(text);
        expect(passageOf(text, 'x', [phrase], 60).marks).not.toEqual([]);
      }),
    );
  });

  it('is cut where most of the words are', () => {
    const text = `${'filler '.repeat(40)}the espresso machine broke${' filler'.repeat(40)} machine`;
    const passage = shown(text, 'espresso machine');
    expect(passage).toContain('[espresso] [machine] broke');
    expect(passage).toMatch(/^… .* …$/);
  });

  it('of a whole text marks everything that was searched for, even without words', () => {
    const mark = (word: string): string => `[${word}]`;
    expect(markedText('cat\n\ndog && Cat &&', 'cats', mark)).toBe('[cat]\n\ndog && [Cat] &&');
    expect(markedText('cat\n\ndog && Cat &&', '&&', mark)).toBe('cat\n\ndog [&&] Cat [&&]');
    expect(markedText('abcd cd ab', '"abc" "b" "cd"', mark)).toBe('[abc]d [cd] a[b]');
  });

  it('is one line of about the requested length, with its marks inside', () => {
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
