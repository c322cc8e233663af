/** How a command that the user ran with `!` is told to the model. */
const BEGINNING = 'I ran this command myself: ';
const OUTPUT = '\n\n<output>\n';
const OUTPUT_END = '\n</output>';
const FAILURE = '\n\nIt did not finish: ';

/** The report of a command that ran to its end. */
export function commandReport(command: string, printed: string, exitStatus: number): string {
  const status = exitStatus === 0 ? '' : `\nIts exit status was ${exitStatus}.`;
  return `${BEGINNING}${command}${OUTPUT}${printed}${OUTPUT_END}${status}`;
}

/** The report of one that did not. */
export function failedCommandReport(command: string, error: string): string {
  return `${BEGINNING}${command}${FAILURE}${error}`;
}

/** The command of such a report and what it printed; null for any other text. */
export function commandIn(text: string): { readonly command: string; readonly printed: string } | null {
  if (!text.startsWith(BEGINNING)) return null;
  const output = text.indexOf(OUTPUT);
  const end = text.lastIndexOf(OUTPUT_END);
  if (output !== -1 && end >= output + OUTPUT.length - 1) {
    return { command: text.slice(BEGINNING.length, output), printed: text.slice(output + OUTPUT.length, end) };
  }
  const failure = text.indexOf(FAILURE);
  if (failure === -1) return null;
  return { command: text.slice(BEGINNING.length, failure), printed: text.slice(failure + FAILURE.length) };
}
