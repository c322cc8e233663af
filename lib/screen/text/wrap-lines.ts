import { LONGEST_ROW, textWidth } from './text-width.js';

/** A longer text in quotes may be wrapped. */
const LONGEST_QUOTE = 60;

/** Further rows begin at the second column of a list only where they keep enough room. */
const LARGEST_SHARE = 0.5;

/**
 * Wraps the lines of hi's own texts at words. Further rows are indented like the line, or begin at its second column where it has two, set apart by
 * blanks. A longer word than a row stays whole, and so does a short text in quotes, which may be a path or a command to copy.
 */
export function wrapLines(text: string, columns: number): string {
  const width = Math.min(LONGEST_ROW, columns);
  return text
    .split('\n')
    .map((line) => (textWidth(line) <= width ? line : wrapLine(line, width)))
    .join('\n');
}

function wrapLine(line: string, width: number): string {
  const indent = indentOf(line, width);
  const start = /^ */.exec(line)?.[0] ?? '';
  const rows: string[] = [];
  let row = start;
  for (const word of wordsOf(line.slice(start.length))) {
    const text = word.trimStart();
    if (row.length > indent.length && textWidth(row) + textWidth(word) > width) {
      rows.push(row);
      row = indent + text;
    } else row += word;
  }
  return [...rows, row].join('\n');
}

/** The words of a line, each with the blanks before it. What stands in quotes counts as one word where it is short. */
function wordsOf(line: string): readonly string[] {
  let words: readonly string[] = [];
  let quoted: string[] = [];
  for (const word of line.split(/(?<=\S)(?= )/)) {
    quoted.push(word);
    const whole = quoted.join('');
    const isOpen = /^ *'[^ ']/.test(whole) && !whole.trimStart().slice(1).includes("'");
    if (isOpen && whole.length < LONGEST_QUOTE) continue;
    words = words.concat(isOpen ? quoted : [whole]);
    quoted = [];
  }
  return [...words, ...quoted];
}

function indentOf(line: string, width: number): string {
  const column = /^ *\S+(?: \S+)* {2,}(?=\S)/.exec(line)?.[0].length ?? /^ */.exec(line)?.[0].length ?? 0;
  return ' '.repeat(column > width * LARGEST_SHARE ? 0 : column);
}
