import { displayWidth } from '../../repl/drawing/line-layout.js';
import type { OutputStream } from '../../screen/output-stream.js';
import { visibleLine } from '../../screen/text/neutralise.js';
import { askQuestion, type PromptStreams } from '../terminal/ask-question.js';
import { wrappedQuestion } from '../terminal/wrapped-question.js';
import type { ApprovalChoice } from './approval-prompt.js';
import { approvalPrompt } from './approval-prompt.js';
import { excerpt, previewRows } from './preview-rows.js';

/** The streams of a question. The output is a terminal. */
export interface ApprovalStreams extends PromptStreams {
  readonly output: OutputStream;
  /** Called right before the question is shown. Resolves when earlier keystrokes can no longer answer it. */
  ready?(): Promise<void>;
}

/** A question about something that is shown above it. */
export interface ShownQuestion<Value> {
  readonly rows: readonly string[];
  readonly message: string;
  readonly choices: readonly ApprovalChoice<Value>[];
  /** What Enter answers first, and what it answers where not all rows fit and not all were viewed. */
  readonly first: Value;
  readonly unseen: Value;
}

/** Shows the rows, all of them or their head and tail, and asks. If they do not fit, `v` views all of them. Rejects as an interruption if the user cancels the question. */
export async function showAndAsk<Value>(question: ShownQuestion<Value>, streams: ApprovalStreams): Promise<Value> {
  const { choices, message } = question;
  const { columns, rows } = sizeOf(streams.output);
  const above = heightOf(`? ${message}`.split('\n'), columns);
  const menu = above + heightOf([...choices.map(({ name }) => `❯ ${name}`), helpOf(choices, columns, true)], columns);
  const { shown, hidden } = excerpt(question.rows, Math.max(3, rows - menu));
  const indexOf = (answer: Value): number => choices.findIndex(({ value }) => value === answer);
  await streams.ready?.();
  streams.output.write(shown.map((row) => `${row}\n`).join(''));
  const asked = {
    message,
    choices,
    help: helpOf(choices, columns, hidden > 0),
    shownChoices: menu <= rows ? choices.length : Math.max(1, rows - above - 1),
    selected: indexOf(hidden === 0 ? question.first : question.unseen),
    hidden: hidden === 0 ? [] : question.rows,
    selectedOnceViewed: indexOf(question.first),
    rows: () => sizeOf(streams.output).rows,
  };
  return await askQuestion((context) => approvalPrompt<Value>(asked, context), streams);
}

/** A text that the user agrees to, under its name. */
export interface ShownText {
  readonly name: string;
  readonly text: string;
}

/** Shows the texts, asks whether the user agrees, and selects "no". `message` is one line. */
export async function askToAgree(
  texts: readonly ShownText[],
  message: string,
  streams: ApprovalStreams,
): Promise<boolean> {
  const { columns } = sizeOf(streams.output);
  const rows = texts.flatMap(({ name, text }) => [
    ...wrappedQuestion(`${visibleLine(name)}:`, columns).split('\n'),
    ...previewRows({ kind: 'path', text }, columns, false),
  ]);
  const choices = [
    { value: true, name: 'yes', key: 'y', word: 'yes' },
    { value: false, name: 'no', key: 'n', word: 'no' },
  ];
  const asked = { rows, message: wrappedQuestion(visibleLine(message), columns), choices, first: false, unseen: false };
  return await showAndAsk(asked, streams);
}

export const sizeOf = ({ columns = 80, rows = 24 }: OutputStream): { columns: number; rows: number } => ({
  columns,
  rows,
});

/** How many rows the lines take. */
export const heightOf = (lines: readonly string[], columns: number): number =>
  lines.reduce((height, line) => height + Math.max(1, Math.ceil(displayWidth(line) / columns)), 0);

/** The keys in one row, with their meanings if there is room. */
function helpOf(choices: readonly ApprovalChoice<unknown>[], columns: number, isLong: boolean): string {
  const keys = [...choices, ...(isLong ? [{ key: 'v', word: 'view all' }] : [])];
  const long = `${keys.map(({ key, word }) => `${key} ${word}`).join(' • ')} • ↑↓ ⏎ select`;
  return long.length < columns ? long : `${keys.map(({ key }) => key).join(' ')} • ↑↓ ⏎ select`;
}
