import { type Message, textOf, typedText } from '../../chat/message.js';
import { quantity } from '../../chat/text.js';
import type { AnswerStyle } from '../../screen/answer-writer.js';
import { wrapLines } from '../../screen/print.js';
import { renderMarkdown } from '../../screen/styled-answer-writer.js';
import { neutralise } from '../../screen/text/neutralise.js';
import type { Session } from '../../session/session.js';

/** The prompt shows how full the window is from this share on. */
const SHOWN_FROM = 0.5;

/** How much of an answer is laid out to show its end, in characters. */
const LAID_OUT = 8000;

/** `openai/gpt-4o · 42 messages · 12% of the window used · /help`. */
export function greeting(session: Session, used: number): string {
  const { provider, model } = session.target;
  const { messages } = session.history.totals;
  const length = messages === 0 ? 'a new conversation' : quantity(messages, 'message');
  if (session.history.isAside) return `${provider}/${model} · an aside, without the conversation · /help`;
  return `${provider}/${model} · ${length} · ${Math.round(used * 100)}% of the window used · /help`;
}

/** How much room there is, and how answers look in it. */
interface Room {
  readonly rows: number;
  readonly style: AnswerStyle;
}

/** The last exchange, shown dimmed at the start in at most so many rows: the beginning of the question and the end of the answer. Empty if there is none. */
export async function lastExchange(messages: readonly Message[], { rows, style }: Room): Promise<string> {
  const begin = messages.findLastIndex(({ role }) => role === 'user');
  if (begin < 0) return '';
  const question = messages[begin];
  const answer = messages
    .slice(begin + 1)
    .findLast((message) => message.role === 'assistant' && textOf(message.content) !== '');
  const asked = laidOut(
    `> ${typedText(question?.content ?? [])
      .trim()
      .replaceAll('\n', '\n> ')}`,
    style,
  );
  if (answer === undefined) return firstRows(asked, rows).join('\n');
  const text = neutralise(textOf(answer.content).trim());
  const shown = text.length <= LAID_OUT ? text : text.slice(text.indexOf('\n', text.length - LAID_OUT) + 1);
  const answered = (await renderMarkdown(shown, { ...style, colour: false })).trimEnd().split('\n');
  const head = firstRows(asked, Math.max(1, rows - answered.length));
  return [...head, ...lastRows(answered, rows - head.length)].join('\n');
}

/** Leaves room for the mark of a cut. */
const laidOut = (text: string, { columns }: AnswerStyle): readonly string[] =>
  wrapLines(text, columns() - 2).split('\n');

function firstRows(all: readonly string[], rows: number): readonly string[] {
  return all.length <= rows ? all : [...all.slice(0, rows - 1), `${all[rows - 1]} …`];
}

function lastRows(all: readonly string[], rows: number): readonly string[] {
  return all.length <= rows ? all : ['…', ...all.slice(all.length - rows + 1)];
}

/** `hi> `, `hi 62%> ` once half of the window is used, and `hi off> ` off the record. */
export function promptText(used: number, isOffRecord: boolean): string {
  const share = used < SHOWN_FROM ? '' : ` ${Math.round(used * 100)}%`;
  return `hi${share}${isOffRecord ? ' off' : ''}> `;
}
