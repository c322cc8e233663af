import { isAbort, unreachable } from '../../errors.js';
import {
  countError,
  type Elicitation,
  type ElicitationAnswer,
  type FieldKind,
  type FormField,
  type FormOption,
  type FormValue,
  formFields,
  numberError,
  textError,
} from '../../mcp/base/elicitation.js';
import { harmlessText } from '../../mcp/base/harmless-text.js';
import type { OutputStream } from '../../screen/output-stream.js';
import { visibleLine } from '../../screen/text/neutralise.js';
import { previewRows } from './approve.js';
import { checkbox, input, select } from './inquirer.js';
import { askQuestion, type PromptStreams } from './terminal-question.js';

/** The streams of a question, whose output is a terminal. */
interface ServerQuestionStreams extends PromptStreams {
  readonly output: OutputStream;
  /** Resolves when nothing that was typed before can answer; called right before the question is shown. */
  ready?(): Promise<void>;
}

/** How much of a server's message is shown, in characters and rows. */
const LONGEST_MESSAGE = 2048;
const MOST_ROWS = 24;

/**
 * Asks the user a server's question. Every question starts with the server's name, and its text has a margin, so that
 * it cannot pass for a question from hi. Ctrl-C and Ctrl-D leave the question unanswered. Rejects as an interruption if
 * the turn is stopped.
 */
export async function askForServer(
  server: string,
  question: Elicitation,
  streams: ServerQuestionStreams,
): Promise<ElicitationAnswer> {
  try {
    await streams.ready?.();
    switch (question.kind) {
      case 'url':
        return await askAboutAddress(server, question, streams);
      case 'form':
        return await askForm(server, question, streams);
      default:
        return unreachable(question);
    }
  } catch (thrown) {
    if (isAbort(thrown) && streams.signal?.aborted !== true) return { action: 'cancel' };
    throw thrown;
  }
}

/** The whole address is shown, and hi opens none. */
async function askAboutAddress(
  server: string,
  { message, url }: Extract<Elicitation, { kind: 'url' }>,
  streams: ServerQuestionStreams,
): Promise<ElicitationAnswer> {
  const address = URL.canParse(url) ? new URL(url) : null;
  if (address?.protocol !== 'https:' && address?.protocol !== 'http:') return { action: 'decline' };
  show(server, message, streams);
  write(streams, rowsOf(address.href, streams));
  const answer = await choose(
    server,
    `asks you to open this address of ${address.host}. Will you open it yourself?`,
    streams,
    [
      ['yes', 'yes, I will open it'],
      ['no', 'no'],
    ],
  );
  return answer === 'yes' ? { action: 'accept' } : { action: 'decline' };
}

async function askForm(
  server: string,
  { message, schema }: Extract<Elicitation, { kind: 'form' }>,
  streams: ServerQuestionStreams,
): Promise<ElicitationAnswer> {
  const fields = formFields(schema);
  if (fields === null) return { action: 'decline' };
  show(server, message, streams);
  const asked =
    fields.length === 0 ? 'asks for your consent.' : `asks for: ${fields.map(({ title }) => title).join(', ')}.`;
  const begun = await choose(server, asked, streams, [
    ['yes', fields.length === 0 ? 'yes' : 'answer'],
    ['no', 'no'],
  ]);
  if (begun === 'no') return { action: 'decline' };
  for (;;) {
    const content = await askFields(server, fields, streams);
    // One answer was just seen.
    if (fields.length < 2) return { action: 'accept', content };
    write(streams, rowsOf(JSON.stringify(content, null, 2), streams));
    const answer = await choose(server, 'would receive this.', streams, [
      ['yes', 'send it'],
      ['again', 'answer again'],
      ['no', 'no'],
    ]);
    if (answer === 'yes') return { action: 'accept', content };
    if (answer === 'no') return { action: 'decline' };
  }
}

async function askFields(
  server: string,
  fields: readonly FormField[],
  streams: ServerQuestionStreams,
): Promise<Readonly<Record<string, FormValue>>> {
  const content: [string, FormValue][] = [];
  for (const field of fields) {
    const about = field.about === '' ? '' : ` (${field.about})`;
    const optional = field.isRequired ? '' : ' (optional)';
    const message = visibleLine(`The server '${server}' asks: ${field.title}${about}${optional}`);
    const value = await askField(field, message, streams);
    if (value !== null) content.push([field.name, value]);
  }
  return Object.fromEntries(content);
}

async function choose<Value extends string>(
  server: string,
  question: string,
  streams: ServerQuestionStreams,
  choices: readonly (readonly [Value, string])[],
): Promise<Value> {
  const message = visibleLine(`The server '${server}' ${question}`);
  const shown = choices.map(([value, name]) => ({ value, name }));
  return await askQuestion((context) => select<Value>({ message, choices: shown }, context), streams);
}

function show(server: string, message: string, streams: ServerQuestionStreams): void {
  const said = harmlessText(message, LONGEST_MESSAGE);
  const rows = said === '' ? [] : rowsOf(said, streams);
  const shown =
    rows.length <= MOST_ROWS ? rows : [...rows.slice(0, MOST_ROWS), `… ${rows.length - MOST_ROWS} more lines`];
  write(streams, [visibleLine(`The server '${server}' asks you:`), ...shown]);
}

const rowsOf = (text: string, { output: { columns = 80 } }: ServerQuestionStreams): readonly string[] =>
  previewRows({ kind: 'call', text }, columns, false);

const write = ({ output }: ServerQuestionStreams, rows: readonly string[]): void =>
  void output.write(rows.map((row) => `${row}\n`).join(''));

/** Asks for one value; null if the user leaves it out. */
async function askField(
  { input, isRequired }: FormField,
  message: string,
  streams: PromptStreams,
): Promise<FormValue | null> {
  switch (input.kind) {
    case 'text': {
      const text = await line(message, input.initial ?? '', streams, (typed) =>
        typed === '' && !isRequired ? null : textError(typed, input),
      );
      return text === '' && !isRequired ? null : text;
    }
    case 'number': {
      const initial = input.initial === null ? '' : String(input.initial);
      const text = await line(message, initial, streams, (typed) =>
        typed === '' && !isRequired ? null : numberError(typed, input),
      );
      return text === '' ? null : Number(text);
    }
    case 'yes-no': {
      const options = [
        { value: 'yes', title: 'yes' },
        { value: 'no', title: 'no' },
      ];
      const initial = input.initial === null ? null : input.initial ? 'yes' : 'no';
      const chosen = await one(message, options, initial, isRequired, streams);
      return chosen === null ? null : chosen === 'yes';
    }
    case 'one':
      return await one(message, input.options, input.initial, isRequired, streams);
    case 'several':
      return await several(message, input, streams);
    default:
      return unreachable(input);
  }
}

async function line(
  message: string,
  initial: string,
  streams: PromptStreams,
  errorOf: (typed: string) => string | null,
): Promise<string> {
  // Shown as an answer that can be changed: what is sent is what is seen.
  const asked = {
    message,
    default: initial,
    prefill: 'editable',
    validate: (typed: string) => errorOf(typed) ?? true,
  } as const;
  return await askQuestion((context) => input(asked, context), streams);
}

async function one(
  message: string,
  options: readonly FormOption[],
  initial: string | null,
  isRequired: boolean,
  streams: PromptStreams,
): Promise<string | null> {
  const choices = options.map(({ title }, at) => ({ value: at, name: visibleLine(title) }));
  // By their places: a value may be any text.
  const none = { value: -1, name: 'leave it out' };
  const asked = {
    message,
    choices: isRequired ? choices : [...choices, none],
    default: initial === null ? 0 : options.findIndex(({ value }) => value === initial),
  };
  const at = await askQuestion((context) => select<number>(asked, context), streams);
  return options[at]?.value ?? null;
}

async function several(
  message: string,
  field: Extract<FieldKind, { kind: 'several' }>,
  streams: PromptStreams,
): Promise<readonly string[]> {
  const choices = field.options.map(({ value, title }, at) => ({
    value: at,
    name: visibleLine(title),
    checked: field.initial.includes(value),
  }));
  const validate = (chosen: readonly unknown[]): string | boolean => countError(chosen.length, field) ?? true;
  const places = await askQuestion((context) => checkbox<number>({ message, choices, validate }, context), streams);
  return places.flatMap((at) => field.options[at]?.value ?? []);
}
