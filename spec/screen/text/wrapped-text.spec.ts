import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import MarkdownIt from 'markdown-it';
import { Markdown } from '../../../lib/screen/markdown/markdown.js';
import { WrappedText } from '../../../lib/screen/text/wrapped-text.js';
import { ANSWERS } from '../../support/answers.js';
import fc, { cases } from '../../support/properties.js';

const WIDTHS = [30, 40, 57, 80, 200];

function wrapped(pieces: readonly string[], columns: number | (() => number)): string {
  const width = typeof columns === 'number' ? () => columns : columns;
  const markdown = new Markdown(() => null, new WrappedText(width), width);
  return stripVTControlCharacters(pieces.map((piece) => markdown.push(piece)).join('') + markdown.end());
}

const parser = new MarkdownIt({ html: true, linkify: false });

/** The document that a Markdown parser reads, with its white space folded. */
const documentOf = (text: string): string =>
  parser
    .render(text)
    .replace(/<pre>[\s\S]*?<\/pre>/g, (code) => code.replaceAll(' ', '\u00b7').replaceAll('\n', '\u00b6'))
    .replace(/\s+/g, ' ')
    .replace(/ ?(<[^>]*>) ?/g, '$1');

const cutAt = (text: string, lengths: readonly number[]): string[] => {
  const characters = [...text];
  return [...lengths.map((length) => characters.splice(0, length).join('')), characters.join('')];
};

const word = fc.oneof(
  { weight: 12, arbitrary: fc.stringMatching(/^[a-z]{1,12}[,.]?$/) },
  fc.constantFrom(
    '-',
    '+',
    '*',
    '1.',
    '2)',
    '#',
    '##',
    '>',
    '>=',
    '|',
    '---',
    '===',
    '***',
    '```',
    '~~~',
    '<b>',
    ':-',
    '___',
    '$$',
    '\\',
    'x\\',
    '[1]:',
  ),
  fc.constantFrom(
    '**strong words**',
    '*two words*',
    '`some code here`',
    '[a link](https://example.org/x)',
    'https://example.org/a/b',
    '--- | ---',
    '[bracket',
    'text]',
    '\\[x',
    '~~old~~',
    'a_b_c',
    '**',
    '`',
    '日本語の文',
    '😀',
  ),
);
const line = fc
  .tuple(
    fc.oneof(
      { weight: 4, arbitrary: fc.constant('') },
      fc.constantFrom(
        '- ',
        '1. ',
        '> ',
        '  - ',
        '> - ',
        '### ',
        '    ',
        '   ',
        '- [ ] ',
        '\t',
        '2. ',
        '10. ',
        '   10) ',
        '> 2. ',
        '2. > ',
        '> > ',
      ),
    ),
    fc.array(word, { minLength: 1, maxLength: 30 }).filter(([first]) => !/^[-+*]$/.test(first ?? '')),
    fc.constantFrom(' ', ' ', '  '),
    fc.constantFrom('', '', '', '  ', '\\'),
  )
  .map(([start, words, blank, end]) => start + words.join(blank) + end);
const document = fc
  .array(fc.oneof({ weight: 3, arbitrary: line }, fc.constant('')), { maxLength: 8 })
  .map((lines) => lines.join('\n'));

describe('wrapped text', () => {
  it('is the same document to a Markdown parser, whatever the text and the width', () => {
    fc.assert(
      fc.property(document, fc.constantFrom(...WIDTHS), (text, columns) => {
        expect(documentOf(wrapped([text], columns))).toBe(documentOf(text));
      }),
      { numRuns: cases(400) },
    );
  });

  it('breaks no word of a heading where the terminal wraps it, and leaves it one line', () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,12}[,.]?$/), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(fc.constantFrom('#', '- ###'), words, fc.constantFrom(...WIDTHS), (mark, text, columns) => {
        const shown = wrapped([`${mark} ${text.join(' ')}`], columns);
        const rows = Array.from({ length: Math.ceil(shown.length / columns) }, (_, row) =>
          shown.slice(row * columns, (row + 1) * columns),
        );
        expect(rows.flatMap((row) => row.trim().split(/ +/))).toEqual([...mark.split(' '), ...text]);
        expect(rows.filter((row) => row.trimEnd().length > 100)).toEqual([]);
      }),
      { numRuns: cases(200) },
    );
  });

  it('does not depend on how the text was split', () => {
    fc.assert(
      fc.property(document, fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 80 }), (text, lengths) => {
        expect(wrapped(cutAt(text, lengths), 40)).toBe(wrapped([text], 40));
      }),
      { numRuns: cases(400) },
    );
  });

  it('is the same document if the text pauses, wherever that is', () => {
    const stops = fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.constantFrom(null, false, false, true)), {
      maxLength: 80,
    });
    fc.assert(
      fc.property(document, stops, fc.constantFrom(...WIDTHS), (text, all, columns) => {
        const markdown = new Markdown(
          () => null,
          new WrappedText(() => columns),
          () => columns,
        );
        let shown = '';
        const lengths = all.map(([length]) => length);
        for (const [index, piece] of cutAt(text, lengths).entries()) {
          shown += markdown.push(piece);
          const isStale = all[index]?.[1] ?? null;
          if (isStale !== null) shown += markdown.settle(isStale);
        }
        shown = stripVTControlCharacters(shown + markdown.end());
        expect(documentOf(shown)).toBe(documentOf(text));
      }),
      { numRuns: 300 },
    );
  });

  it('shows everything so far if the text pauses, but breaks no unfinished word', () => {
    const text = 'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen';
    for (const [cut, length] of [
      [/(?= )/, 24],
      [/(?<= )/, 24],
      [/(?=[a-z]{2}\b)/, 24],
    ] as const) {
      const columns = () => 24;
      const markdown = new Markdown(() => null, new WrappedText(columns), columns);
      let shown = '';
      for (const piece of text.split(cut)) {
        shown += markdown.push(piece) + markdown.settle(false);
        const column = shown.length - shown.lastIndexOf('\n') - 1;
        const given = text.slice(0, text.indexOf(piece) + piece.length).trimEnd();
        if (column < length - 16)
          expect(shown.replaceAll('\n', ' ').trimEnd().length).toBeGreaterThan(given.length - 18);
      }
      const rows = (shown + markdown.end()).split('\n');
      expect(rows.join(' ')).toBe(text);
      for (const row of rows) expect(row.length).toBeLessThanOrEqual(length);
    }
    const markdown = new Markdown(
      () => null,
      new WrappedText(() => 24),
      () => 24,
    );
    expect(markdown.push('and so on up to the') + markdown.settle(false)).toBe('and so on up to');
    expect(markdown.settle(true)).toBe(' the');
    expect(markdown.push('re and on') + markdown.settle(true)).toBe('re\nand on');
    expect(markdown.push(' a') + markdown.settle(false)).toBe(' a');
  });

  it.each([
    [
      'an ordered list',
      '1. one\n2. two three four five six seven\n10. ten eleven twelve',
      ['   five six seven', '    twelve'],
    ],
    ['a list after one of another kind', '* one\n3) two three four five six seven', ['   five six seven']],
    ['an ordered list in a quotation', '> 1. one\n> 2. two three four five six', ['>    five six']],
    ['a number that begins no list', 'one\n10. two three four five six', ['    five six']],
  ])('indents the later rows of %s', (_name, text, rows) => {
    const all = wrapped([text], 20).split('\n');
    for (const row of rows) expect(all).toContain(row);
    expect(documentOf(all.join('\n'))).toBe(documentOf(text));
  });

  it.each([
    ['prose with a bar', 'P(A | B) is two three four five', 'P(A | B) is two\nthree four five'],
    ['bars before a blank line', 'one | two three four five\n\nx', 'one | two three four\nfive\n\nx'],
    ['bars before a list', 'one | two three four five\n- x', 'one | two three four\nfive\n- x'],
    [
      'the head of a table',
      'one two | three four five\n--- | :-:\n1 | 2',
      'one two | three four five\n--- | :-:\n1 | 2',
    ],
    ['one in a quotation', '> a b | three four five\n> - | -\n> 1 | 2', '> a b | three four five\n> - | -\n> 1 | 2'],
  ])('wraps %s only if no table begins', (_name, text, shown) => {
    for (const pieces of [[text], [...text]]) expect(wrapped(pieces, 20)).toBe(shown);
  });

  it('shows a long line with a bar before its end arrives', () => {
    const markdown = new Markdown(
      () => null,
      new WrappedText(() => 40),
      () => 40,
    );
    expect(markdown.push(`a | ${'word '.repeat(79)}`)).not.toContain('word');
    const rows = markdown.push('word '.repeat(30)).split('\n');
    expect(rows.length).toBeGreaterThan(9);
    for (const row of rows) expect(row.length).toBeLessThanOrEqual(40);
  });

  it('is the same document if the width changes at any time', () => {
    const widths = fc.array(fc.constantFrom(...WIDTHS), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(document, widths, (text, all) => {
        let asked = 0;
        const columns = () => all[asked++ % all.length] ?? 80;
        expect(documentOf(wrapped([text], columns))).toBe(documentOf(text));
      }),
    );
  });

  describe.each(Object.entries(ANSWERS))('of the answer %s', (name, answer) => {
    // A table that does not fit is laid out anew: spec/screen/markdown/table.spec.ts.
    it.each(name === 'tables' ? [200] : WIDTHS)(
      'in %i columns is the same document, also in random chunks',
      (columns) => {
        expect(documentOf(wrapped([answer], columns))).toBe(documentOf(answer));
        const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 200 });
        fc.assert(
          fc.property(lengths, (pieces) => {
            expect(documentOf(wrapped(cutAt(answer, pieces), columns))).toBe(documentOf(answer));
          }),
          { numRuns: 5 },
        );
      },
    );
  });

  it('keeps every row of prose within the terminal and within 100 columns', () => {
    const prose = fc
      .array(fc.stringMatching(/^[a-z]{1,12}[,.]?$/), { minLength: 1, maxLength: 80 })
      .map((words) => words.join(' '));
    fc.assert(
      fc.property(
        prose,
        fc.integer({ min: 30, max: 150 }),
        fc.constantFrom('', '- ', '> ', '12. '),
        (text, columns, mark) => {
          const rows = wrapped([mark + text], columns).split('\n');
          for (const row of rows) expect(row.length).toBeLessThanOrEqual(Math.min(100, columns));
          for (const row of rows.slice(1)) expect(row).toMatch(mark === '> ' ? /^> [a-z]/ : /^ *[a-z]/);
          expect(rows.map((row) => row.slice(mark.length)).join(' ')).toBe(text);
        },
      ),
    );
  });
});
