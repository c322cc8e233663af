import { isAbort, unreachable } from '../../errors.js';
import {
  type Elicitation,
  type ElicitationAnswer,
  type FormField,
  type FormValue,
  formFields,
} from '../../mcp/base/elicitation.js';
import { harmlessText } from '../../mcp/base/harmless-text.js';
import type { OutputStream } from '../../screen/output-stream.js';
import { visibleLine } from '../../screen/text/neutralise.js';
import { previewRows } from '../approval/preview-rows.js';
import { askQuestion, type PromptStreams } from '../terminal/ask-question.js';
import { select } from '../terminal/inquirer.js';
import { askField } from './ask-field.js';

/** The streams of a question, whose output is a terminal. */
export interface ServerQuestionStreams extends PromptStreams {
  readonly output: OutputStream;
  /** Resolves when nothing that was typed before can answer; called right before the question is shown. */
  ready?(): Promise<void>;
}

/** How much of a server's message is shown, in characters and rows. */
const LONGEST_MESSAGE = 2048;
const MOST_ROWS = 24;

/**
 * Asks the user a server's question. Every question starts with the server's name, and its text has a margin, so that it cannot
 * pass for a question from hi. Ctrl-C and Ctrl-D leave the question unanswered. Rejects as an interruption if the turn is stopped.
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
