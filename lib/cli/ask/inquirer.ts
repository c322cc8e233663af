import {
  createPrompt,
  isDownKey,
  isEnterKey,
  isUpKey,
  type KeypressEvent,
  makeTheme,
  type Status,
  type Theme,
  useKeypress,
  usePrefix,
  useRef,
  useState,
} from '@inquirer/core';
import * as prompts from '@inquirer/prompts';
import { firstCharacters, lastCharacters } from '../../chat/text.js';
import { displayWidth } from '../../repl/drawing/line-layout.js';
import { wrapLines } from '../../screen/print.js';

/*
 * The kinds of question the program asks, so that the bundle holds no others. Loaded when something is asked. The
 * package would cut the words of a question at the end of a row.
 */

export const confirm: typeof prompts.confirm = (config, context) =>
  prompts.confirm(withWrappedMessage(config, context), context);

export const input: typeof prompts.input = (config, context) =>
  prompts.input(withWrappedMessage(config, context), context);

export const password: typeof prompts.password = (config, context) =>
  prompts.password(withWrappedMessage(config, context), context);

export const checkbox: typeof prompts.checkbox = (config, context) =>
  prompts.checkbox(withWrappedMessage(config, context), context);

/** What can be chosen. */
interface Choice<Value> {
  readonly value: Value;
  readonly name: string;
}

export function select<Value>(
  config: { readonly message: string; readonly choices: readonly Choice<Value>[] },
  context?: Parameters<typeof prompts.select>[1],
): Promise<Value> {
  const columns = columnsOf(context);
  const message = wrappedQuestion(config.message, columns);
  const choices = config.choices.map(({ value, name }) => ({
    value,
    name: wrappedQuestion(name, columns),
    short: wrappedAnswer(message, name, columns),
  }));
  return prompts.select({ message, choices }, context);
}

/** `source` finds what can be chosen by what is typed. A name takes one row: a model's has no words to wrap at. */
export function search<Value>(
  config: { readonly message: string; source(typed: string | undefined): readonly Choice<Value>[] },
  context?: Parameters<typeof prompts.search>[1],
): Promise<Value> {
  const columns = columnsOf(context);
  const message = wrappedQuestion(config.message, columns);
  const names = new Map<string, string>();
  const source = (typed: string | undefined) =>
    // Tab types a name as it is shown.
    config.source(names.get(typed ?? '') ?? typed).map(({ value, name }) => {
      const shown = shortened(name, columns - MARK_WIDTH);
      names.set(shown, name);
      return { value, name: shown, short: wrappedAnswer(message, name, columns) };
    });
  return prompts.search({ message, source }, context);
}

/** The start and the end of a name that is too wide. */
function shortened(name: string, columns: number): string {
  let [start, end] = [Math.ceil(name.length / 2), Math.floor(name.length / 2)];
  const ends = (): string => `${firstCharacters(name, start)}…${lastCharacters(name, end)}`;
  if (displayWidth(name) <= columns) return name;
  while (end > 1 && displayWidth(ends()) > columns) [start, end] = [end, start - 1];
  return ends();
}

type Output = { readonly output?: NodeJS.WritableStream } | undefined;

/** The last column stays free for the blank before an answer in the next row. */
function columnsOf(context: Output): number {
  const { columns = 80 } = (context?.output ?? process.stderr) as { readonly columns?: number };
  return columns - 1;
}

function withWrappedMessage<Config extends { message: string }>(config: Config, context: Output): Config {
  return { ...config, message: wrappedQuestion(config.message, columnsOf(context)) };
}

/** What stands before a question: a mark and a blank. */
const MARK_WIDTH = 2;

/** A question wrapped at words. Its further rows begin below its first word, right of the mark before it. */
export const wrappedQuestion = (question: string, columns: number): string =>
  wrapLines(`${' '.repeat(MARK_WIDTH)}${question}`, columns).slice(MARK_WIDTH);

/** The answer as it goes on in the last row of a wrapped question, or begins in the next one. */
export function wrappedAnswer(question: string, answer: string, columns: number): string {
  const last = question.split('\n').at(-1) ?? '';
  const before = last === question ? ' '.repeat(MARK_WIDTH) + last : last;
  const wrapped = wrapLines(`${before} ${answer}`, columns).slice(before.length);
  return wrapped.startsWith('\n') ? wrapped : wrapped.slice(1);
}

/** One answer to the question. */
export interface ApprovalChoice<Value> {
  readonly value: Value;
  readonly name: string;
  /** The key for this answer, and its meaning in one word. */
  readonly key: string;
  readonly word: string;
}

/** The question, and what `v` shows. */
export interface ApprovalPrompt<Value> {
  readonly message: string;
  readonly choices: readonly ApprovalChoice<Value>[];
  /** How many choices are shown at a time. */
  readonly shownChoices: number;
  /** The line below the choices. */
  readonly help: string;
  /** The index of the choice that is selected first. */
  readonly selected: number;
  /** The rows that do not all fit above the question; empty where they do. */
  readonly hidden: readonly string[];
  /** The index of the choice that is selected once all rows were viewed. */
  readonly selectedOnceViewed: number;
  readonly columns: number;
  readonly rows: () => number;
}

/** Asks with a menu that a key, a digit or Enter answers, and pages through what did not fit above it. */
export async function approvalPrompt<Value>(
  question: ApprovalPrompt<Value>,
  context: Parameters<typeof prompt>[1],
): Promise<Value> {
  const index = await prompt(question, context);
  const chosen = question.choices[index];
  if (chosen === undefined) throw new RangeError(`No choice ${index}`);
  return chosen.value;
}

const prompt = createPrompt<number, ApprovalPrompt<unknown>>((question, done) => {
  const theme = makeTheme();
  const [status, setStatus] = useState<Status>('idle');
  const [selected, select] = useState(question.selected);
  const [page, setPage] = useState<number | null>(null);
  const isPasting = useRef(false);
  const prefix = usePrefix({ status, theme });
  const answer = (index: number): void => {
    select(index);
    setStatus('done');
    done(index);
  };
  useKeypress((key, readline) => {
    readline.clearLine(0);
    if (isPaste(key, isPasting) || status === 'done') return;
    if (page !== null) turnPage(question, page, key, setPage, select);
    else if (key.name === 'v' && question.hidden.length > 0) showPage(question, 0, setPage, select);
    else if (isEnterKey(key)) answer(selected);
    else if (isUpKey(key, []) || isDownKey(key, [])) select(step(selected, isUpKey(key, []) ? -1 : 1, question));
    else {
      const index = chosenBy(key, question);
      if (index !== -1) answer(index);
    }
  });
  const message = theme.style.message(question.message, status);
  if (status === 'done') {
    const answer = wrappedAnswer(question.message, question.choices[selected]?.name ?? '', question.columns);
    return `${prefix} ${message} ${theme.style.answer(answer)}`;
  }
  return page === null ? menu(question, selected, `${prefix} ${message}`, theme) : pageText(question, page);
});

/** Pasted text never counts as a key. */
function isPaste({ name }: KeypressEvent, isPasting: { current: boolean }): boolean {
  if (name === 'paste-start') isPasting.current = true;
  else if (name === 'paste-end') isPasting.current = false;
  else return isPasting.current;
  return true;
}

function step(selected: number, by: number, { choices }: ApprovalPrompt<unknown>): number {
  return (selected + by + choices.length) % choices.length;
}

function chosenBy({ name, ctrl }: KeypressEvent, { choices }: ApprovalPrompt<unknown>): number {
  if (ctrl) return -1;
  return choices.findIndex(({ key }, index) => name === key || name === String(index + 1));
}

const HIDE_CURSOR = '\x1b[?25l';

/** The question, the choices (those around the selected one where the terminal has few rows) and the keys. */
function menu(question: ApprovalPrompt<unknown>, selected: number, head: string, theme: Theme): string {
  const { choices, help, shownChoices, columns } = question;
  const first = Math.max(0, Math.min(selected, choices.length - shownChoices));
  const lines = choices.slice(first, first + shownChoices).map(({ name }, index) => {
    const isSelected = first + index === selected;
    const shown = wrappedQuestion(name, columns);
    return isSelected ? theme.style.highlight(`❯ ${shown}`) : `  ${shown}`;
  });
  const below = shownChoices < choices.length ? [] : [theme.style.help(help)];
  return `${[head, ...lines, ...below].join('\n')}${HIDE_CURSOR}`;
}

/** How many rows a page shows; one stays for its last line and one for the cursor. */
const pageLength = ({ rows }: ApprovalPrompt<unknown>): number => Math.max(1, rows() - 2);

function pageText(question: ApprovalPrompt<unknown>, start: number): string {
  const { hidden } = question;
  const shown = hidden.slice(start, start + pageLength(question));
  const keys = start + shown.length < hidden.length ? 'space: on, b: back, q: answer' : 'b: back, q: answer';
  return `${[...shown, `${start + 1}-${start + shown.length} of ${hidden.length} (${keys})`].join('\n')}${HIDE_CURSOR}`;
}

function turnPage(
  question: ApprovalPrompt<unknown>,
  start: number,
  key: KeypressEvent,
  setPage: (start: number | null) => void,
  select: (index: number) => void,
): void {
  const length = pageLength(question);
  const last = question.hidden.length - length;
  if (['space', 'pagedown', 'f', 'return', 'enter'].includes(key.name))
    if (start >= last) setPage(null);
    else showPage(question, start + length, setPage, select);
  else if (isDownKey(key, [])) showPage(question, start + 1, setPage, select);
  else if (isUpKey(key, [])) showPage(question, start - 1, setPage, select);
  else if (['b', 'pageup'].includes(key.name)) showPage(question, start - length, setPage, select);
  else if (['home', 'g'].includes(key.name)) showPage(question, 0, setPage, select);
  else if (['q', 'v', 'escape'].includes(key.name)) setPage(null);
}

/** Shows the page that starts there. The last page counts as having viewed everything. */
function showPage(
  question: ApprovalPrompt<unknown>,
  start: number,
  setPage: (start: number | null) => void,
  select: (index: number) => void,
): void {
  const last = Math.max(0, question.hidden.length - pageLength(question));
  setPage(Math.max(0, Math.min(start, last)));
  if (start >= last) select(question.selectedOnceViewed);
}
