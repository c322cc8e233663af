import { layOutRows } from '../../repl/drawing/line-layout.js';
import { graphemes } from '../../repl/editing/edit-buffer.js';
import { visibleText } from '../../screen/text/neutralise.js';
import { CYAN, GREEN, PLAIN, paint, RED, type Style } from '../../screen/text/styled-text.js';
import type { ApprovalQuestion } from '../../tools/common/tool.js';

/** Precedes every row of the preview, wrapped ones too, so that none of them can pass for output of hi itself. */
const MARGIN = '│ ';

/** Longer runs of empty lines are replaced by their number: they would push the rest off the screen. */
const EMPTY_LINES = /\n{5,}/g;

/** What a call would do, as rows of a terminal: all of it, nothing invisible, none wider than `columns`. A diff is coloured. */
export function previewRows(
  { kind, text }: ApprovalQuestion['preview'],
  columns: number,
  colour: boolean,
): readonly string[] {
  // Leaves one column free: a terminal wraps a full row only when more follows.
  const width = Math.max(1, columns - MARGIN.length - 1);
  return linesOf(visibleText(text)).flatMap((line) => {
    const style = colour && (kind === 'diff' || kind === 'memory') ? styleOf(line) : PLAIN;
    return wrapped(line, width).map((row) => MARGIN + paint(row, style));
  });
}

function linesOf(text: string): readonly string[] {
  return text
    .replace(EMPTY_LINES, (run) => `\n<${run.length - 1} empty lines>\n`)
    .replace(/^\n{1,4}|\n{1,4}$/g, '')
    .split('\n');
}

function wrapped(line: string, width: number): readonly string[] {
  const rows = layOutRows(line, width, 0).map(({ start, end }) => line.slice(start, end));
  // A full last row has an empty one below it, for a cursor.
  const filled = rows.length > 1 && rows.at(-1) === '' ? rows.slice(0, -1) : rows;
  return filled.flatMap((row) => narrowed(row, width));
}

/** Splits a row so that no terminal wraps it, whatever width it gives the characters: a wrapped row would have no margin. */
function narrowed(row: string, width: number): readonly string[] {
  if (greatestWidth(row) <= width) return [row];
  const parts: string[] = [];
  let [part, taken] = ['', 0];
  const letters = [...graphemes(row)].flatMap(({ segment }) =>
    greatestWidth(segment) > width ? [...segment] : segment,
  );
  for (const letter of letters) {
    const cells = greatestWidth(letter);
    if (part !== '' && taken + cells > width) {
      parts.push(part);
      [part, taken] = ['', 0];
    }
    part += letter;
    taken += cells;
  }
  return [...parts, part];
}

/** Each terminal has tables of its own. Only these take one column in all: Latin, Greek and Cyrillic letters, dashes and quotes, lines and blocks. */
const DISPUTED = /[^\u0020-\u02ff\u0370-\u052f\u2010-\u2027\u2500-\u259f]/gu;

/** The most columns that a terminal draws a text in. */
const greatestWidth = (text: string): number => [...text].length + (text.match(DISPUTED)?.length ?? 0);

function styleOf(line: string): Style {
  if (line.startsWith('+')) return GREEN;
  if (line.startsWith('-')) return RED;
  return line.startsWith('@@') ? CYAN : PLAIN;
}

/** What fits on the screen of a preview: all rows, or its head and its tail with the number of rows between them. `available` is 3 at least. */
export function excerpt(rows: readonly string[], available: number): { shown: readonly string[]; hidden: number } {
  if (rows.length <= available) return { shown: rows, hidden: 0 };
  const visible = available - 1;
  const head = rows.slice(0, Math.ceil(visible / 2));
  const tail = rows.slice(rows.length - Math.floor(visible / 2));
  const hidden = rows.length - head.length - tail.length;
  return { shown: [...head, `… ${hidden} more ${hidden === 1 ? 'line' : 'lines'} (v: view all)`, ...tail], hidden };
}
