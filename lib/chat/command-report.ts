import { textBlock } from './text/text-block.js';

/** How a command that the user ran with `!` is told to the model. */
const BEGINNING = 'I ran this command myself: ';
const OUTPUT = /\n\n<(output(?:-\d{1,9})?)>\n/;
const FAILURE = '\n\nIt did not finish: ';

/** The report of a command that ran to its end. */
export function commandReport(command: string, printed: string, exitStatus: number): string {
  const status = exitStatus === 0 ? '' : `\nIts exit status was ${exitStatus}.`;
  return `${BEGINNING}${command}\n\n${textBlock('output', {}, printed)}${status}`;
}

/** The report of one that did not. */
export function failedCommandReport(command: string, error: string): string {
  return `${BEGINNING}${command}${FAILURE}${error}`;
}

/** The command of such a report, and its output without the last newline; null for any other text. */
export function commandIn(text: string): { readonly command: string; readonly printed: string } | null {
  if (!text.startsWith(BEGINNING)) return null;
  const found = OUTPUT.exec(text);
  const from = (found?.index ?? 0) + (found?.[0].length ?? 0);
  const end = text.lastIndexOf(`\n</${found?.[1]}>`);
  if (found && end >= from - 1)
    return { command: text.slice(BEGINNING.length, found.index), printed: text.slice(from, Math.max(from, end)) };
  const failure = text.indexOf(FAILURE);
  if (failure === -1) return null;
  return { command: text.slice(BEGINNING.length, failure), printed: text.slice(failure + FAILURE.length) };
}
