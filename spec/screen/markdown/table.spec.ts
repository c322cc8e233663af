import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { Markdown } from '../../../lib/screen/markdown/markdown.js';
import { textWidth } from '../../../lib/screen/text/styled-text.js';
import { WrappedText } from '../../../lib/screen/text/wrapped-text.js';
import fc from '../../support/properties.js';

/** What is shown of a text in this many columns, without its styles. */
function shown(text: string, columns: number): string {
  const markdown = new Markdown(
    () => null,
    new WrappedText(() => columns),
    () => columns,
  );
  return stripVTControlCharacters(markdown.push(text) + markdown.end());
}

const PLANS = `| Plan | Price per month | Included requests | Overage (per 1k) | Support | Best for |
|------|----------------:|:-----------------:|------------------|---------|----------|
| Enterprise | *ask* | unlimited | \`0\` | Phone, 1 h, dedicated engineer | Regulated industries |
| Team | 12 | 1,000 | 0.50 | Mail | Small teams |
`;

const NOTES = `Notes:

| Name | What it does |
| --- | --- |
| \`hi ask\` | one turn, with **the answer in bold words** on stdout and nothing else |
| hi reset | clears |

That is all.`;

describe('a table', () => {
  it('that does not fit wraps its cells at words, with the marks of emphasis where they were', () => {
    expect(shown(NOTES, 44)).toBe(`Notes:

| Name     | What it does                  |
|----------|-------------------------------|
| \`hi ask\` | one turn, with **the answer   |
|          | in bold words** on stdout and |
|          | nothing else                  |
| hi reset | clears                        |

That is all.`);
  });

  it('keeps the alignment of its columns where they wrap', () => {
    expect(shown(PLANS, 92)).toBe(`| Plan       | Price per | Included  | Overage (per | Support     | Best for    |
|            |     month | requests  | 1k)          |             |             |
|------------|----------:|:---------:|--------------|-------------|-------------|
| Enterprise |     *ask* | unlimited | \`0\`          | Phone, 1 h, | Regulated   |
|            |           |           |              | dedicated   | industries  |
|            |           |           |              | engineer    |             |
| Team       |        12 |   1,000   | 0.50         | Mail        | Small teams |
`);
  });

  it('whose columns would be too narrow gets a line for each field', () => {
    expect(shown(PLANS, 40)).toBe(`Plan: Enterprise
Price per month: *ask*
Included requests: unlimited
Overage (per 1k): \`0\`
Support: Phone, 1 h, dedicated engineer
Best for: Regulated industries

Plan: Team
Price per month: 12
Included requests: 1,000
Overage (per 1k): 0.50
Support: Mail
Best for: Small teams
`);
  });

  it('shows each word of each cell whole, in its place, within the terminal', () => {
    const word = fc.oneof(
      fc.stringMatching(/^[a-z]{1,14}$/),
      fc.constantFrom('`code`', '**bold**', '全角の語', '👩‍👩‍👧', '1,234.50'),
    );
    const cell = fc.array(word, { minLength: 1, maxLength: 12 });
    const table = fc
      .integer({ min: 2, max: 9 })
      .chain((columns) =>
        fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: 2, maxLength: 5 }),
      );
    fc.assert(
      fc.property(table, fc.constantFrom(40, 80, 120), (rows, columns) => {
        const line = (cells: readonly (readonly string[])[]) =>
          `| ${cells.map((one) => one.join(' ')).join(' | ')} |\n`;
        const [head = [], ...body] = rows;
        const lines = shown(`${line(head)}|${'---|'.repeat(head.length)}\n${body.map(line).join('')}`, columns).split(
          '\n',
        );
        for (const one of lines) if (one.startsWith('|')) expect(textWidth(one)).toBeLessThanOrEqual(columns);
        expect(lines[0]?.startsWith('|') ? cellsShown(lines) : fieldsShown(lines)).toEqual(
          lines[0]?.startsWith('|')
            ? rows[0]?.map((_, column) => rows.flatMap((row) => row[column]))
            : body.flatMap((row) =>
                row.flatMap((words, column) => `${head[column]?.join(' ')}: ${words.join(' ')}`.split(' ')),
              ),
        );
      }),
    );
  });
});

/** The words of each column, from top to bottom. */
function cellsShown(lines: readonly string[]): string[][] {
  const rows = lines
    .filter((line) => line !== '' && !/^\|[-|]+$/.test(line))
    .map((line) => line.slice(1, -1).split('|'));
  return (rows[0] ?? []).map((_, column) => rows.flatMap((row) => (row[column] ?? '').split(' ').filter(Boolean)));
}

const fieldsShown = (lines: readonly string[]): string[] => lines.flatMap((line) => line.split(' ').filter(Boolean));
