import { type Message, textOf, typedText } from '../../chat/message.js';
import type { Session } from '../../session/session.js';

/** From this share of the window on the prompt tells how full it is. */
const SHOWN_FROM = 0.5;

/** How much of the last exchange is shown. */
const MAX_LINES = 12;

/** `gpt-4o · 42 messages · 12% of the window used`. */
export function greeting(session: Session, used: number): string {
  const { provider, model } = session.target;
  const { messages } = session.history.totals;
  const length = messages === 0 ? 'a new conversation' : `${messages} message${messages === 1 ? '' : 's'}`;
  return `${provider}/${model} · ${length} · ${Math.round(used * 100)}% of the window used · /help`;
}

/** The last exchange as it is shown dimmed at the start: what the user said and the end of what was answered; empty when there is none. */
export function lastExchange(messages: readonly Message[]): string {
  const begin = messages.findLastIndex(({ role }) => role === 'user');
  if (begin < 0) return '';
  const question = messages[begin];
  const answer = messages
    .slice(begin + 1)
    .findLast((message) => message.role === 'assistant' && textOf(message.content) !== '');
  const said = question === undefined ? '' : typedText(question.content);
  return [
    `> ${shortened(said).replaceAll('\n', '\n> ')}`,
    ...(answer === undefined ? [] : [shortened(textOf(answer.content))]),
  ].join('\n');
}

function shortened(text: string): string {
  const lines = text.trim().split('\n');
  return lines.length <= MAX_LINES ? lines.join('\n') : ['…', ...lines.slice(-MAX_LINES)].join('\n');
}

/** `hi> `, or `hi 62%> ` from half of the window on. */
export function promptText(used: number): string {
  return used < SHOWN_FROM ? 'hi> ' : `hi ${Math.round(used * 100)}%> `;
}
