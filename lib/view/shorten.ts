import { readFileBlock } from '../chat/marked-text.js';
import { base64Length } from '../chat/media.js';
import {
  type DocumentPart,
  type ImagePart,
  isPart,
  type Message,
  type Part,
  type ToolResultPart,
} from '../chat/message.js';
import { firstCharacters, lastCharacters } from '../chat/text.js';
import { charactersOf, totalCharacters } from './size.js';

/** Tool results up to this many characters are never shortened. */
const RESULT_LIMIT = 2000;

const KNOWN = new WeakMap<Message, Message>();

/**
 * The message with large tool results cut to head and tail, and images replaced by their names. The same message always
 * gives the same bytes.
 */
export function shortened(message: Message): Message {
  const known = KNOWN.get(message);
  if (known) return known;
  const short: Message = { ...message, content: message.content.map(shortenedPart) };
  KNOWN.set(message, short);
  return short;
}

/**
 * The messages, with old ones from an index on shortened: not the last group, which the model has not read yet, not the
 * newest user message, and images only before the last two user messages. Returns the same array if there is nothing to
 * shorten.
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

/**
 * A text or a document of a user's message that takes more characters of a request, 4,000 tokens, is a paste or a file.
 */
const LONG = 16_000;
/** How many characters of its beginning and of its end are sent in its place. */
const END = 500;
/** Beside a long one, shorter files are named too if they have more characters. */
const SHORT_FILE = 4 * END;

/**
 * Whether a user's message has a long text or document, which is sent as its name, beginning and end once it is no
 * longer in use.
 */
export function isLong({ role, content }: Message): boolean {
  return role === 'user' && content.some((part) => charactersSent(part) > LONG);
}

function charactersSent(part: Part): number {
  if (part.type === 'document') return base64Length(part.bytes);
  return part.type === 'text' ? part.text.length : 0;
}

/** The size of messages in characters, with documents as large as they are sent. */
export const sentCharacters = (messages: readonly Message[]): number =>
  messages
    .flatMap(({ content }) => content.filter(isPart('document')))
    .reduce((sum, part) => sum + charactersSent(part), totalCharacters(messages));

const NAMED = new WeakMap<Message, Message>();

/**
 * The message with its long texts replaced by name, size, id, beginning and end. In a long message of the user the
 * other files have only their names too. The same message always gives the same bytes.
 */
export function withNames(message: Message): Message {
  const known = NAMED.get(message);
  if (known) return known;
  const all = isLong(message);
  const content = message.content.map((part): Part => {
    if (part.type === 'text' && part.text.length > (all && readFileBlock(part.text) ? SHORT_FILE : LONG))
      return { ...part, text: ends(part.text, message.id) };
    if (!all || (part.type !== 'image' && part.type !== 'document')) return part;
    return {
      type: 'text',
      text: `[${nameOfImage(part)}, ${part.bytes} bytes, is no longer in view but in #${message.id}, which /all sends again.]`,
    };
  });
  const short = { ...message, content };
  NAMED.set(message, short);
  return short;
}

function ends(text: string, id: number): string {
  const file = readFileBlock(text);
  const name = file === null ? 'A text' : `The file ${JSON.stringify(file.name)}`;
  const said = file?.text ?? text;
  const [head, tail] = [firstCharacters(said, END), lastCharacters(said, END)];
  return `[${name}, ${said.length} characters, is no longer in view but in #${id}, which can be searched. Its beginning and end:]\n${head}\n[...]\n${tail}`;
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

/**
 * For every index from 0 to the number of messages, whether the view may be cut before it. Never between a call and its
 * result: OpenAI, Anthropic and Gemini reject a tool result without its call with status 400.
 */
export function validCuts(messages: readonly Message[]): readonly boolean[] {
  const changes = new Int32Array(messages.length + 2);
  const called = new Map<string, number>();
  messages.forEach((message, index) => {
    for (const part of message.content) {
      if (part.type === 'tool_call') called.set(part.call_id, index);
      if (part.type !== 'tool_result') continue;
      const call = called.get(part.call_id);
      if (call === undefined || call === index) continue;
      changes[call + 1] = (changes[call + 1] ?? 0) + 1;
      changes[index + 1] = (changes[index + 1] ?? 0) - 1;
    }
  });
  const cuts: boolean[] = [];
  for (let index = 0, straddling = 0; index <= messages.length; index++) {
    straddling += changes[index] ?? 0;
    cuts.push(straddling === 0);
  }
  return cuts;
}

/** The nearest valid cut at or before an index, which keeps more messages rather than fewer. */
export function cutBefore(cuts: readonly boolean[], index: number): number {
  for (let at = Math.min(index, cuts.length - 1); at > 0; at--) if (cuts[at]) return at;
  return 0;
}

/**
 * The first valid cut from `from` to `last` that is good enough, else the last valid one; `from` itself if it is after
 * `last`.
 */
export function advanceCut(
  cuts: readonly boolean[],
  from: number,
  last: number,
  isGood: (at: number) => boolean,
): number {
  let found = from;
  for (let at = from; at <= last; at++) {
    if (!cuts[at]) continue;
    found = at;
    if (isGood(at)) break;
  }
  return found;
}

/**
 * The index of the last group: the newest message that is not a tool result, and the results after it. It always stays,
 * because the model has not read it yet.
 */
export function lastGroup(messages: readonly Message[]): number {
  return Math.max(
    0,
    messages.findLastIndex((message) => message.role !== 'tool'),
  );
}

/**
 * The head and tail of a text longer than `limit` characters, with a line between them that says how much is missing.
 */
export function headAndTail(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = firstCharacters(text, Math.ceil(limit * 0.7));
  const tail = lastCharacters(text, limit - Math.ceil(limit * 0.7));
  return `${head}\n[... ${text.length - head.length - tail.length} characters left out ...]\n${tail}`;
}
