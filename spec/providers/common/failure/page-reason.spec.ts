import { describe, expect, it } from '@jest/globals';
import { reasonOnPage } from '../../../../lib/providers/common/vendor-error.js';
import fc, { cases } from '../../../support/properties.js';

/** Pieces of pages that a pattern may come to grief over. */
const PIECES = [
  ...['<', '>', '</', '<p>', '<script>', '</script>', '<b>', '&', '&quot;', '&amp;', '&#34', ' ', '\t', '\n', '"', "'"],
  ...['not', 'no', 'n’t', 'be ', 'yet ', 'not be yet ', 'support', 'unsupported', 'url', 'a', 'é', '\u0000', '=', '-'],
];

/** The most that is read of an answer with an error. */
const LARGEST = 256 * 1024;

describe('the reason on a page', () => {
  it('is read from any page in linear time', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 4 }),
        fc.constantFrom(...PIECES, ''),
        (some, start) => {
          const piece = some.join('');
          const page = start + piece.repeat(Math.floor(LARGEST / piece.length));
          const before = performance.now();
          reasonOnPage(page);
          // Half a second on a busy machine; what grows as the square of the page takes a minute.
          expect({ piece, isQuick: performance.now() - before < 5000 }).toEqual({ piece, isQuick: true });
        },
      ),
      { numRuns: cases(60) },
    );
  });

  it('is found at the end of a long page', () => {
    const page = `<html>${'<p>Nothing.</p>'.repeat(50_000)}<p>The model does not support <code>image_url</code>.</p>`;
    expect(reasonOnPage(page)).toBe('The model does not support image_url.');
  });
});
