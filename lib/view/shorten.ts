import type { DocumentPart, ImagePart, Message, Part, ToolResultPart } from '../chat/message.js';
import { lastGroup } from './cuts.js';
import { headAndTail } from './shorten-text.js';
import { charactersOf } from './size.js';

/** Tool results up to this many characters are never shortened. */
const RESULT_LIMIT = 2000;

const KNOWN = new WeakMap<Message, Message>();

/** The message with large tool results cut to head and tail, and images replaced by their names. The same message always gives the same bytes. */
export function shortened(message: Message): Message {
  const known = KNOWN.get(message);
  if (known) return known;
  const short: Message = { ...message, content: message.content.map(shortenedPart) };
  KNOWN.set(message, short);
  return short;
}

/**
 * The messages, with old ones from an index on shortened: not the last group, which the model has not read yet, not the newest user
 * message, and images only before the last two user messages. Returns the same array if there is nothing to shorten.
 */
export function shortenOld(messages: readonly Message[], from: number, newestUser: number): readonly Message[] {
  const recent = messages.findLastIndex((message, index) => message.role === 'user' && index < newestUser);
  const last = lastGroup(messages);
  const isOld = (message: Message, index: number) =>
    index >= from && index < last && (message.role === 'user' ? index < recent : index !== newestUser);
  const shown = messages.map((message, index) =>
    isOld(message, index) && charactersOf(shortened(message)) < charactersOf(message) ? shortened(message) : message,
  );
  return shown.every((message, index) => message === messages[index]) ? messages : shown;
}

/** The text that replaces an image or document. */
export function nameOfImage(part: ImagePart | DocumentPart): string {
  const size = part.type === 'image' && part.width && part.height ? ` ${part.width}x${part.height}` : '';
  return `${part.name ?? `#${part.sha256.slice(0, 8)}`} (${part.mime}${size})`;
}

function shortenedPart(part: Part): Part {
  if (part.type === 'tool_result') return shortenedResult(part);
  if (part.type === 'image' || part.type === 'document') return { type: 'text', text: `[${nameOfImage(part)}]` };
  return part;
}

function shortenedResult(part: ToolResultPart): ToolResultPart {
  const { call_id, name } = part;
  const text = part.error ?? (typeof part.result === 'string' ? part.result : JSON.stringify(part.result));
  if (text.length <= RESULT_LIMIT) return part;
  const short = headAndTail(text, RESULT_LIMIT / 2);
  return part.error === undefined
    ? { type: 'tool_result', call_id, name, result: short }
    : { type: 'tool_result', call_id, name, error: short };
}
