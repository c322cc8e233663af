import { linesOf, type MemoryLine } from './memory-text.js';

/** The source without some of its lines, and these lines. */
export interface WithoutLines {
  readonly source: string;
  readonly lines: readonly string[];
}

/** Removes each line that `holds` a text, alone or together with the lines after it, and each that `isMeant`. */
export function withoutLines(
  source: string,
  holds: (text: string) => boolean,
  isMeant: (line: MemoryLine) => boolean,
): WithoutLines {
  const meant = new Set(linesOf(source).flatMap((line) => (isMeant(line) ? [line.line - 1] : [])));
  let gone: readonly string[] = [];
  let rows = source.split('\n').filter((row, index) => {
    const goes = meant.has(index) || holds(row);
    if (goes) gone = [...gone, row];
    return !goes;
  });
  while (rows.length > 0 && holds(rows.join('\n'))) {
    const [from, to] = narrowest(rows, holds);
    gone = [...gone, ...rows.slice(from, to)];
    rows = [...rows.slice(0, from), ...rows.slice(to)];
  }
  return { source: rows.join('\n'), lines: gone };
}

/** The first rows that together hold the text. */
function narrowest(rows: readonly string[], holds: (text: string) => boolean): readonly [from: number, to: number] {
  let to = 1;
  while (!holds(rows.slice(0, to).join('\n'))) to += 1;
  let from = to - 1;
  while (!holds(rows.slice(from, to).join('\n'))) from -= 1;
  return [from, to];
}
