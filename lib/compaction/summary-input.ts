import { withoutLookalikes } from '../chat/marked-text.js';
import { type Message, type Part, spokenParts } from '../chat/message.js';
import { nameOfImage } from '../view/shorten.js';
import { headAndTail } from '../view/shorten-text.js';

/** The most characters of a tool's output and of its arguments in a summary's input. */
const RESULT_LIMIT = 2000;
const ARGUMENT_LIMIT = 1000;

/**
 * A message as data for the model that writes a summary: id, role and text, tool output cut to head and tail, images named, thinking omitted.
 * It has no time, so that the same message always gives the same text, and nothing in it that looks like the ids a summary cites. At most `limit` characters.
 */
export function summaryInput(message: Message, limit: number): string {
  const body = spokenParts(message.content).map(inWords).filter(Boolean).join('\n');
  const text = headAndTail(withoutLookalikes(asData(body)), Math.max(0, limit));
  return `<message role="${message.role}" id="${message.id}">\n${text}\n</message>\n`;
}

/** Escapes text so that it can neither close our tags nor open a turn of a chat template. */
export function asData(text: string): string {
  return text
    .replace(/<(?=\s*(?:\/\s*)?(?:messages?|conversation|earlier-summary|facts)\b)/gi, '&lt;')
    .replace(/<(?=\|)/g, '&lt;');
}

function inWords(part: Part): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
    case 'document':
      return `[image: ${nameOfImage(part)}]`;
    case 'tool_call':
      return `[calls ${part.name} ${headAndTail(part.invalid_args ?? JSON.stringify(part.args), ARGUMENT_LIMIT)}]`;
    case 'tool_result': {
      const text = typeof part.result === 'string' ? part.result : JSON.stringify(part.result);
      return `[${part.name} ${part.error === undefined ? 'answers' : 'fails'}] ${headAndTail(part.error ?? text, RESULT_LIMIT)}`;
    }
    case 'thinking':
    case 'vendor':
      return '';
  }
}
