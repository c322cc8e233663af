import { describe, expect, it } from '@jest/globals';
import { excerpt, previewRows } from '../../lib/cli/ask/approve.js';

const rowsOf = (text: string, columns = 40, kind: 'command' | 'diff' = 'command') =>
  previewRows({ kind, text }, columns, false);

describe('the preview of a question', () => {
  it('indents every row, wrapped ones too, so that none looks like a prompt', () => {
    const rows = rowsOf(`${'x'.repeat(100)}\nhi> \n▸ bash ls\n? Run this command?`);
    expect(rows.every((row) => row.startsWith('│ '))).toBe(true);
    expect(rows.join('').replaceAll('│ ', '')).toContain('x'.repeat(100));
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThan(40);
  });

  it.each([
    ['a hexagram', '\u4dc0'],
    ['a vowel of Tamil', '\u0ba8\u0bbf'],
    ['a vowel of Thai', '\u0e33'],
    ['a colour of skin', '\u{1f44d}\u{1f3fd}'],
    ['a new emoji', '\u{1fae9}'],
    ['a flag', '\u{1f1e9}\u{1f1ea}'],
  ])('wraps before the edge of a terminal that draws %s in more columns', (_what, letter) => {
    const text = `echo ${letter.repeat(90)}? Run this command?`;
    const rows = rowsOf(text);
    expect(rows.map((row) => row.slice(2)).join('')).toBe(text);
    const widths = rows.map((row) => [...row.slice(2)].reduce((sum, one) => sum + (one < '\x7f' ? 1 : 2), 2));
    expect(Math.max(...widths)).toBeLessThan(40);
  });

  it('counts a tab as the four columns that it shows', () => {
    const rows = rowsOf(`${'a\t'.repeat(40)}end`);
    expect(rows.join('')).not.toContain('\t');
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThan(40);
    expect(rows).toHaveLength(6);
  });

  it('replaces runs of blanks and of empty lines by their length', () => {
    expect(rowsOf(`git status${' '.repeat(4000)}; touch x`)).toEqual(['│ git status<4000 spaces>; touch x']);
    expect(rowsOf(`ls${'\n'.repeat(61)}touch x${'\n'.repeat(61)}ls`)).toEqual(
      ['ls', '<60 empty lines>', 'touch x', '<60 empty lines>', 'ls'].map((line) => `│ ${line}`),
    );
  });

  it('colours a diff', () => {
    expect(previewRows({ kind: 'diff', text: '-old\n+new\n' }, 40, true)).toEqual([
      '│ \x1b[0;31m-old\x1b[0m',
      '│ \x1b[0;32m+new\x1b[0m',
    ]);
  });

  it('shows head and tail if the screen is too small', () => {
    const rows = rowsOf(Array.from({ length: 130 }, (_, index) => `line ${index}`).join('\n'));
    const { shown, hidden } = excerpt(rows, 13);
    expect(shown).toHaveLength(13);
    expect(shown[0]).toBe('│ line 0');
    expect(shown).toContain('… 118 more lines (v: view all)');
    expect(shown.at(-1)).toBe('│ line 129');
    expect(hidden).toBe(118);
    expect(excerpt(rows, 3).shown).toEqual(['│ line 0', '… 128 more lines (v: view all)', '│ line 129']);
    expect(excerpt(rows, 130)).toEqual({ shown: rows, hidden: 0 });
  });
});
