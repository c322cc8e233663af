import { firstCharacters, lastCharacters } from '../../chat/text/cut-text.js';
import { displayWidth } from '../../repl/drawing/line-layout.js';
import type { OutputStream } from '../../screen/output-stream.js';
import { visibleLine } from '../../screen/text/neutralise.js';
import type { Approval, ApprovalQuestion } from '../../tools/common/tool.js';
import type { ApprovalChoice } from '../approval/approval-prompt.js';
import { excerpt, previewRows } from '../approval/preview-rows.js';
import { hasColour } from '../base/streams.js';
import type { World } from '../base/world.js';
import { askQuestion, type PromptStreams } from '../terminal/ask-question.js';
import { wrappedQuestion } from '../terminal/wrapped-question.js';

/** The streams of a question. The output is a terminal. */
export interface ApprovalStreams extends PromptStreams {
  readonly output: OutputStream;
  /** Called right before the question is shown. Resolves when earlier keystrokes can no longer answer it. */
  ready?(): Promise<void>;
}

type Answer = 'once' | 'always' | 'no' | 'say';

/**
 * Shows what a call would do, in full or its head and tail, and asks: once, always, no, or no with a reason. If the preview does not fit, Enter does not
 * approve the call until the user has viewed all of it. Rejects as an interruption if the user cancels the question.
 */
export async function askApproval(
  question: ApprovalQuestion,
  streams: ApprovalStreams,
  env: World['env'],
): Promise<Approval> {
  const { approvalPrompt, input } = await import('../approval/approval-prompts.js');
  const { columns, rows } = sizeOf(streams.output);
  const choices = choicesOf(question);
  const message = messageOf(question, columns, rows);
  const above = heightOf(`? ${message}`.split('\n'), columns);
  const menu = above + heightOf([...choices.map(({ name }) => `❯ ${name}`), helpOf(choices, columns, true)], columns);
  const preview = rowsToShow(question, message, columns, hasColour(streams.output, env));
  const { shown, hidden } = excerpt(preview, Math.max(3, rows - menu));
  await streams.ready?.();
  streams.output.write(shown.map((row) => `${row}\n`).join(''));
  const asked = {
    message,
    choices,
    help: helpOf(choices, columns, hidden > 0),
    shownChoices: menu <= rows ? choices.length : Math.max(1, rows - above - 1),
    selected: hidden === 0 ? 0 : choices.findIndex(({ value }) => value === 'no'),
    hidden: hidden === 0 ? [] : preview,
    selectedOnceViewed: 0,
    rows: () => sizeOf(streams.output).rows,
  };
  const answer = await askQuestion((context) => approvalPrompt<Answer>(asked, context), streams);
  if (answer !== 'say') return { answer };
  return {
    answer: 'no',
    reason: await askQuestion((context) => input({ message: 'Tell the model:' }, context), streams),
  };
}

const sizeOf = ({ columns = 80, rows = 24 }: ApprovalStreams['output']): { columns: number; rows: number } => ({
  columns,
  rows,
});

const heightOf = (lines: readonly string[], columns: number): number =>
  lines.reduce((height, line) => height + Math.max(1, Math.ceil(displayWidth(line) / columns)), 0);

/** The rows to show above the question. None if the question itself contains the whole path. */
function rowsToShow(
  { preview }: ApprovalQuestion,
  message: string,
  columns: number,
  colour: boolean,
): readonly string[] {
  if (preview.kind === 'path' && message.replaceAll('\n ', '').includes(visibleLine(preview.text))) return [];
  return previewRows(preview, columns, colour);
}

function choicesOf({ rule }: ApprovalQuestion): readonly ApprovalChoice<Answer>[] {
  const always = {
    value: 'always',
    name: `yes, always: ${visibleLine(rule ?? '')}`,
    key: 'a',
    word: 'always',
  } as const;
  return [
    { value: 'once', name: 'yes, once', key: 'y', word: 'yes' },
    ...(rule === null ? [] : [always]),
    { value: 'no', name: 'no', key: 'n', word: 'no' },
    { value: 'say', name: 'no, and say why', key: 's', word: 'say why' },
  ];
}

/** The keys in one row, with their meanings if there is room. */
function helpOf(choices: readonly ApprovalChoice<Answer>[], columns: number, isLong: boolean): string {
  const keys = [...choices, ...(isLong ? [{ key: 'v', word: 'view all' }] : [])];
  const long = `${keys.map(({ key, word }) => `${key} ${word}`).join(' • ')} • ↑↓ ⏎ select`;
  return long.length < columns ? long : `${keys.map(({ key }) => key).join(' ')} • ↑↓ ⏎ select`;
}

/** The minimum width of the reason, in columns. */
const SHORTEST_REASON = 20;

/** The question, with the name of the file, in at most three rows, or two in a low terminal. */
function messageOf({ preview, reason, call }: ApprovalQuestion, columns: number, rows: number): string {
  const asked = `${askedOf(preview, call.args.path, columns)} (${visibleLine(call.name)}: `;
  const why = visibleLine(reason);
  const mostRows = rows < 20 ? 2 : 3;
  for (let room = mostRows * columns - displayWidth(asked) - 3; ; room -= 1) {
    const message = wrappedQuestion(`${asked}${fitting(why, Math.max(SHORTEST_REASON, room))})`, columns);
    if (room <= SHORTEST_REASON || heightOf(message.split('\n'), columns) <= mostRows) return message;
  }
}

/** As much of the start of a text as fits in the columns. */
function fitting(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let shown = firstCharacters(text, columns - 1);
  // A character takes two columns at most.
  while (displayWidth(shown) >= columns)
    shown = firstCharacters(shown, shown.length - Math.max(1, Math.floor((displayWidth(shown) - columns) / 2)));
  return `${shown}…`;
}

function askedOf({ kind, shell }: ApprovalQuestion['preview'], path: unknown, columns: number): string {
  if (kind === 'command') return shell === undefined ? 'Run this command?' : `Run this command in ${shell}?`;
  if (kind === 'call') return 'Call this tool?';
  if (kind === 'memory') return 'Always keep this in mind?';
  const asked = kind === 'path' ? 'Open' : 'Make this change to';
  return `${asked} ${typeof path === 'string' ? endOf(visibleLine(path), columns) : 'this'}?`;
}

/** The end of a path identifies the file best. */
function endOf(path: string, columns: number): string {
  return path.length <= columns ? path : `…${lastCharacters(path, columns - 1)}`;
}
