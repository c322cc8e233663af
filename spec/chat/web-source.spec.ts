import { describe, expect, it } from '@jest/globals';
import { asSources, citationsIn, withCitations } from '../../lib/chat/web-source.js';
import fc from '../support/properties.js';

const resting = (...passages: readonly string[]) => [{ url: 'https://a.example/', cited: passages }];

describe('withCitations', () => {
  it.each([
    ['One. Two. One.', ['One.', 'One.'], 'One. [1] Two. One. [1]'],
    ['A line\nthat goes on.', ['A line that goes on.'], 'A line\nthat goes on. [1]'],
    ['It is **cold**.', ['It is **cold'], 'It is **cold** [1].'],
    ['- one\n- two', ['- one', 'two'], '- one [1]\n- two [1]'],
    ['| a | b |\n| - | - |\n| 1 | 2 |', ['1'], '| a | b |\n| - | - |\n| 1 [1] | 2 |'],
    ['Run:\n```\nls -l\n```\nIt lists.', ['ls -l', 'It lists.'], 'Run:\n```\nls -l\n```\nIt lists. [1]'],
    ['寒い。雪が降る。', ['寒い。'], '寒い。 [1]雪が降る。'],
    ['See [a](https://a.example/).', ['See'], 'See [a](https://a.example/).'],
    ['Nothing of it.', ['Something else'], 'Nothing of it.'],
  ])('puts the number behind the words: %j', (text, passages, marked) => {
    expect(withCitations(text, resting(...passages))).toBe(marked);
  });

  it('puts it at the end of the line behind a passage that is too long to be kept whole', () => {
    const long = `${'word '.repeat(200)}end.\nNext.`;
    const sources = asSources([['https://a.example/', 'A', long.split('\n')[0]]]);
    expect(withCitations(long, sources)).toBe(long.replace('end.', 'end. [1]'));
  });

  it('adds numbers and changes nothing else, whatever is cited', () => {
    const words = fc.array(fc.constantFrom('a', 'b.', '\n', ' ', '**', '```', '\n```\n', '語', '|'), { maxLength: 30 });
    const given = fc.record({ pieces: words, cited: fc.array(words, { maxLength: 4 }) });
    fc.assert(
      fc.property(given, ({ pieces, cited }) => {
        const text = pieces.join('');
        const sources = cited.flatMap((passage) => asSources([['https://a.example/', 'A', passage.join('')]]));
        const marked = withCitations(text, sources);
        expect(marked.replaceAll(/ (?:\[\d\])+/g, '')).toBe(text);
        const places = citationsIn(text, sources).map(({ at }) => at);
        expect(places).toEqual([...new Set(places)].sort((one, two) => one - two));
      }),
    );
  });
});
