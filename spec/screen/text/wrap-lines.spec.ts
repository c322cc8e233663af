import { describe, expect, it } from '@jest/globals';
import { wrapLines } from '../../../lib/screen/print.js';
import fc from '../../support/properties.js';

describe("hi's own texts", () => {
  it('are wrapped at words, indented like their line', () => {
    expect(wrapLines('hi: Something went wrong here.\n    To mend it, do this and that.', 24)).toBe(
      'hi: Something went wrong\nhere.\n    To mend it, do this\n    and that.',
    );
  });

  it('continue at the second column of a list', () => {
    expect(wrapLines('/copy    copy the last answer or its code', 26)).toBe(
      '/copy    copy the last\n         answer or its\n         code',
    );
  });

  it('keep short texts in quotes whole', () => {
    expect(wrapLines("To change it, run 'hi config init -y' now.", 30)).toBe(
      "To change it, run\n'hi config init -y' now.",
    );
    expect(wrapLines("It's a pity that this isn't there.", 20)).toBe("It's a pity that\nthis isn't there.");
  });

  it('lose no word and no line, and fit as far as their words do', () => {
    const line = fc.array(fc.stringMatching(/^[a-zé日]{1,9}$/), { maxLength: 20 }).map((words) => words.join(' '));
    fc.assert(
      fc.property(fc.array(line), fc.integer({ min: 20, max: 120 }), (lines, columns) => {
        const text = lines.join('\n');
        const wrapped = wrapLines(text, columns);
        expect(wrapped.split(/\s+/)).toEqual(text.split(/\s+/));
        expect(wrapped.split('\n').length).toBeGreaterThanOrEqual(lines.length);
        for (const row of wrapped.split('\n')) expect(row.length).toBeLessThanOrEqual(Math.min(100, columns));
      }),
    );
  });
});
