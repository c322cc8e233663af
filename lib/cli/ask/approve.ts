import { firstCharacters, lastCharacters, quantity } from '../../chat/text.js';
import { shortCount } from '../../chat/transcript.js';
import { HiError } from '../../errors.js';
import { displayWidth, layOutRows } from '../../repl/drawing/line-layout.js';
import { graphemes } from '../../repl/editing/edit-buffer.js';
import type { OutputStream } from '../../screen/output-stream.js';
import { visibleLine, visibleText } from '../../screen/text/neutralise.js';
import { CYAN, GREEN, PLAIN, paint, RED, type Style } from '../../screen/text/styled-text.js';
import type { UserInput } from '../../session/common/deps.js';
import type { Session } from '../../session/session.js';
import type { Approval, ApprovalQuestion } from '../../tools/common/tool.js';
import { hasColour } from '../base/output.js';
import type { World } from '../base/world.js';
import { costLine, isDear, questionCost } from '../wiring/price.js';
import { type ApprovalChoice, approvalPrompt, confirm, input, wrappedQuestion } from './inquirer.js';
import { askQuestion, type PromptStreams } from './terminal-question.js';

type Answer = 'once' | 'always' | 'no' | 'say';

/**
 * Shows what a call would do, in full or its head and tail, and asks: once, always, no, or no with a reason. If the
 * preview does not fit, Enter does not approve the call until the user has viewed all of it. Rejects as an interruption
 * if the user cancels the question.
 */
export async function askApproval(
  question: ApprovalQuestion,
  streams: ApprovalStreams,
  env: World['env'],
): Promise<Approval> {
  const { columns, rows } = sizeOf(streams.output);
  const message = messageOf(question, columns, rows);
  const answer = await showAndAsk<Answer>(
    {
      message,
      rows: rowsToShow(question, message, columns, hasColour(streams.output, env)),
      choices: choicesOf(question),
      first: question.isOutside ? 'no' : 'once',
      unseen: 'no',
    },
    streams,
  );
  if (answer !== 'say') return { answer };
  return {
    answer: 'no',
    reason: await askQuestion((context) => input({ message: 'Tell the model:' }, context), streams),
  };
}

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

/** The streams of a question. The output is a terminal. */
export interface ApprovalStreams extends PromptStreams {
  readonly output: OutputStream;
  /** Called right before the question is shown. Resolves when earlier keystrokes can no longer answer it. */
  ready?(): Promise<void>;
}

/** A question about something that is shown above it. */
interface ShownQuestion<Value> {
  readonly rows: readonly string[];
  readonly message: string;
  readonly choices: readonly ApprovalChoice<Value>[];
  /** What Enter answers first, and what it answers where not all rows fit and not all were viewed. */
  readonly first: Value;
  readonly unseen: Value;
}

/**
 * Shows the rows, all of them or their head and tail, and asks. If they do not fit, `v` views all of them. Rejects as
 * an interruption if the user cancels the question.
 */
async function showAndAsk<Value>(question: ShownQuestion<Value>, streams: ApprovalStreams): Promise<Value> {
  const { choices, message } = question;
  const { columns, rows } = sizeOf(streams.output);
  const above = heightOf(`? ${message}`.split('\n'), columns);
  const names = choices.flatMap(({ name }) => wrappedQuestion(name, columns - 1).split('\n'));
  const menu = above + heightOf([...names.map((name) => `  ${name}`), helpOf(choices, columns, true)], columns);
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
    columns: columns - 1,
    rows: () => sizeOf(streams.output).rows,
  };
  return await askQuestion((context) => approvalPrompt<Value>(asked, context), streams);
}

/** A text that the user agrees to, under its name. */
interface ShownText {
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

const sizeOf = ({ columns = 80, rows = 24 }: OutputStream): { columns: number; rows: number } => ({
  columns,
  rows,
});

/** How many rows the lines take. */
const heightOf = (lines: readonly string[], columns: number): number =>
  lines.reduce((height, line) => height + Math.max(1, Math.ceil(displayWidth(line) / columns)), 0);

/** The keys in one row, with their meanings if there is room. */
function helpOf(choices: readonly ApprovalChoice<unknown>[], columns: number, isLong: boolean): string {
  const keys = [...choices, ...(isLong ? [{ key: 'v', word: 'view all' }] : [])];
  const long = `${keys.map(({ key, word }) => `${key} ${word}`).join(' • ')} • ↑↓ ⏎ select`;
  return long.length < columns ? long : `${keys.map(({ key }) => key).join(' ')} • ↑↓ ⏎ select`;
}

/** Precedes every row of the preview, wrapped ones too, so that none of them can pass for output of hi itself. */
const MARGIN = '│ ';

/** Longer runs of empty lines are replaced by their number: they would push the rest off the screen. */
const EMPTY_LINES = /\n{5,}/g;

/**
 * What a call would do, as rows of a terminal: all of it, nothing invisible, none wider than `columns`. A diff is
 * coloured.
 */
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

/**
 * Splits a row so that no terminal wraps it, whatever width it gives the characters: a wrapped row would have no
 * margin.
 */
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

/**
 * Each terminal has tables of its own. Only these take one column in all: Latin, Greek and Cyrillic letters, dashes and
 * quotes, lines and blocks.
 */
const DISPUTED = /[^\u0020-\u02ff\u0370-\u052f\u2010-\u2027\u2500-\u259f]/gu;

/** The most columns that a terminal draws a text in. */
const greatestWidth = (text: string): number => [...text].length + (text.match(DISPUTED)?.length ?? 0);

function styleOf(line: string): Style {
  if (line.startsWith('+')) return GREEN;
  if (line.startsWith('-')) return RED;
  return line.startsWith('@@') ? CYAN : PLAIN;
}

/**
 * What fits on the screen of a preview: all rows, or its head and its tail with the number of rows between them.
 * `available` is 3 at least.
 */
export function excerpt(rows: readonly string[], available: number): { shown: readonly string[]; hidden: number } {
  if (rows.length <= available) return { shown: rows, hidden: 0 };
  const visible = available - 1;
  const head = rows.slice(0, Math.ceil(visible / 2));
  const tail = rows.slice(rows.length - Math.floor(visible / 2));
  const hidden = rows.length - head.length - tail.length;
  return { shown: [...head, `… ${hidden} more ${hidden === 1 ? 'line' : 'lines'} (v: view all)`, ...tail], hidden };
}

/**
 * Says what a question with everything costs before it is asked. Resolves to whether the user agrees; a cheap one needs
 * no answer. Without a terminal to ask on and without `-y`, throws a `HiError` of code `usage`.
 */
export async function agreeToAll(
  world: World,
  session: Session,
  input: UserInput,
  { yes, quiet }: { readonly yes?: boolean; readonly quiet?: boolean },
  signal: AbortSignal,
): Promise<boolean> {
  const { messages, left_out, tokens } = await session.whole(input, signal);
  const cost = questionCost(session.target, tokens, world.now());
  const missing = left_out === 0 ? '' : `, ${shortCount(left_out)} do not fit`;
  const line = `${quantity(messages, 'message')}${missing} · ${costLine(cost)}`;
  if (!quiet) world.stderr.write(`${line}\n`);
  if (yes || !isDear(cost, session.target)) return true;
  if (world.stdinIs !== 'terminal' || !world.stderr.isTTY)
    throw new HiError('usage', `Not asked with everything: ${line}.`, {
      hint: 'To agree to that without a terminal, add -y.',
    });
  const streams = { input: world.stdin, output: world.stderr };
  const message = 'Ask with everything?';
  return await askQuestion((asking) => confirm({ message, default: false }, asking), streams).catch(() => false);
}
