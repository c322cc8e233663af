import { isCommandOutput } from '../../chat/foreign-words.js';
import type { JsonValue } from '../../chat/json.js';
import { isPart, type Message, type Part } from '../../chat/message.js';
import { withoutElements } from '../../chat/text/without-elements.js';
import { MASK, secretMask } from '../../permission/mask-secrets.js';
import type { Document, Kind, PlainKind } from './part.js';

/** So much of each end of what a tool printed is searched. */
const END = 4000;

/** What begins text that was recalled into a message: it is not recalled again. */
const RECALLED = /<(recalled)\b/g;

/** The tool whose calls and results repeat what is found elsewhere. */
const OWN_TOOL = 'recall';

/** Words that only keys begin with: where none of them is, none needs to be looked for. */
const mask = secretMask([]);

/** A message as it is searched; null for one without anything to find. */
export function documentOf(message: Message, kind: Kind): Pick<Document, 'kind' | 'day' | 'text'> | null {
  const text = searchedText(message);
  if (text.trim() === '') return null;
  return { kind, day: Math.floor(Date.parse(message.at) / 86_400_000) || 0, text };
}

/** Everything in a message that can be found: words, the arguments of calls, the ends of results, names of attachments. No thinking, no secret. */
export function searchedText({ content }: Message): string {
  const text = content
    .map(textOfPart)
    .filter((one) => one !== '')
    .join('\n');
  return mask(text).replaceAll(MASK, ' ');
}

/** Who says what is in a message, as far as it tells by itself. */
export function documentKind(message: Message): PlainKind {
  const { role, content } = message;
  if (role === 'tool') return 'tool';
  if (role === 'user') return isCommandOutput(message) ? 'note' : 'user';
  return content.some((part) => isPart('text')(part) && part.text.trim() !== '') ? 'model' : 'call';
}

function textOfPart(part: Part): string {
  switch (part.type) {
    case 'text':
      if (part.recalled !== undefined || part.clock === true) return '';
      return part.text.includes('<recalled') ? withoutElements(part.text, RECALLED, ' ') : part.text;
    case 'image':
    case 'document':
      return part.name ?? '';
    case 'tool_call':
      return part.name === OWN_TOOL ? '' : `${part.name} ${ends(valuesOf(part.args))}`;
    case 'tool_result':
      return part.name === OWN_TOOL ? '' : ends(part.error ?? valuesOf(part.result));
    case 'thinking':
    case 'vendor':
      return '';
  }
}

/** The texts and numbers in a value, without the names of its fields. */
function valuesOf(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value)
    .map(valuesOf)
    .filter((text) => text !== '')
    .join('\n');
}

function ends(text: string): string {
  return text.length <= 2 * END ? text : `${text.slice(0, END)}\n…\n${text.slice(-END)}`;
}
