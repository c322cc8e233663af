import { type Message, textOf, typedText } from '../../chat/message.js';
import { quantity } from '../../chat/text.js';
import type { Session } from '../../session/session.js';

/** The prompt shows how full the window is from this share on. */
const SHOWN_FROM = 0.5;

/** How many lines of each message of the last exchange are shown. */
const MAX_LINES = 12;

/** `openai/gpt-4o · 42 messages · 12% of the window used · /help`. */
export function greeting(session: Session, used: number): string {
  const { provider, model } = session.target;
  const { messages } = session.history.totals;
  const length = messages === 0 ? 'a new conversation' : quantity(messages, 'message');
  if (session.history.isAside) return `${provider}/${model} · an aside, without the conversation · /help`;
  return `${provider}/${model} · ${length} · ${Math.round(used * 100)}% of the window used · /help`;
}

/** The last exchange, shown dimmed at the start: the last lines of question and answer. Empty if there is none. */
export function lastExchange(messages: readonly Message[]): string {
  const begin = messages.findLastIndex(({ role }) => role === 'user');
  if (begin < 0) return '';
  const question = messages[begin];
  const answer = messages
    .slice(begin + 1)
    .findLast((message) => message.role === 'assistant' && textOf(message.content) !== '');
  const typed = question === undefined ? '' : typedText(question.content);
  return [
    `> ${shortened(typed).replaceAll('\n', '\n> ')}`,
    ...(answer === undefined ? [] : [shortened(textOf(answer.content))]),
  ].join('\n');
}

function shortened(text: string): string {
  const lines = text.trim().split('\n');
  return lines.length <= MAX_LINES ? lines.join('\n') : ['…', ...lines.slice(-MAX_LINES)].join('\n');
}

/** `hi> `, `hi 62%> ` once half of the window is used, and `hi off> ` off the record. */
export function promptText(used: number, isOffRecord: boolean): string {
  const share = used < SHOWN_FROM ? '' : ` ${Math.round(used * 100)}%`;
  return `hi${share}${isOffRecord ? ' off' : ''}> `;
}
