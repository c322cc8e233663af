import { createHash } from 'node:crypto';
import { type Entry, isCompressBlock, isMessage } from '../chat/entry.js';
import { marksAmong, undoneTurns } from '../chat/entry-list.js';
import { readFileBlock } from '../chat/marked-text.js';
import {
  type DocumentPart,
  type ImagePart,
  isPart,
  type Message,
  type Part,
  spokenParts,
  type TextPart,
  type ThinkingPart,
  type ToolCallPart,
  type ToolResultPart,
  withWholeTexts,
} from '../chat/message.js';
import { localMinute } from '../chat/text.js';

/** A file that belongs to a message. */
export interface SpokenFile {
  /** Its name for the user; it may be anything. */
  readonly name: string;
  readonly mime: string;
  /** Its picture or document in the history; null for a text that stands in its message. */
  readonly part: ImagePart | DocumentPart | null;
  /** Its bytes; null if they are lost. */
  read(): Promise<Uint8Array | null>;
}

/** A message as it was said: without what hi or a vendor added for itself. */
export interface SpokenMessage {
  readonly message: Message;
  /** Unique, and stable from one export to the next. */
  readonly uuid: string;
  /** The attachments, in order. */
  readonly files: readonly SpokenFile[];
  /** A user message has at most one text, the one that was typed. */
  readonly parts: readonly (TextPart | ThinkingPart | ToolCallPart | ToolResultPart)[];
}

/** A conversation as it was held. */
export interface SpokenThread {
  /** Unique, and stable from one export to the next. */
  readonly uuid: string;
  readonly title: string;
  readonly messages: readonly SpokenMessage[];
}

/** Reads the bytes of an attachment; null if they are lost. */
export type ReadAttachment = (sha256: string) => Promise<Uint8Array | null>;

/** Counts what is not in the threads: `summaries`. */
export type LeaveOut = (what: string, count?: number) => void;

/** A thread of the everlasting conversation is a day of it, or less: so much text, in characters. */
const LONGEST_THREAD = 4_000_000;

/**
 * The everlasting conversation by days: no program opens one without an end. Turns stay whole; undone ones are left
 * out.
 */
export async function* threadsOfHistory(
  archive: () => AsyncIterable<Entry>,
  read: ReadAttachment,
  leaveOut: LeaveOut,
): AsyncGenerator<SpokenThread> {
  const marks = await marksAmong(archive());
  leaveOut('summaries', marks.filter(isCompressBlock).length);
  const undone = undoneTurns(marks);
  let [held, day, turn, size]: [Message[], string, number, number] = [[], '', 0, 0];
  for await (const entry of archive()) {
    if (!isMessage(entry)) continue;
    if (undone.has(entry.turn)) {
      leaveOut('messages of undone turns');
      continue;
    }
    const today = localMinute(entry.at).slice(0, 10);
    if (entry.turn !== turn && (today !== day || size > LONGEST_THREAD)) {
      if (held.length > 0) yield dayOf(held, day, read, leaveOut);
      [held, day, size] = [[], today, 0];
    }
    turn = entry.turn;
    size += JSON.stringify(entry.content).length;
    held.push(entry);
  }
  if (held.length > 0) yield dayOf(held, day, read, leaveOut);
}

const dayOf = (held: readonly Message[], day: string, read: ReadAttachment, leaveOut: LeaveOut): SpokenThread =>
  threadOf(uuidOf('hi', nameOf(held[0])), `hi, ${day}`, held, read, leaveOut);

/**
 * The conversations of a book, each whole, however often an import added to it. `messages` reads the book from its
 * beginning.
 */
export function* threadsOfBook(
  book: string,
  messages: () => Iterable<Message>,
  read: ReadAttachment,
  leaveOut: LeaveOut,
): Generator<SpokenThread> {
  const lengths = new Map<string, number>();
  for (const { imported } of messages()) {
    const thread = imported?.thread ?? '';
    lengths.set(thread, (lengths.get(thread) ?? 0) + 1);
  }
  const open = new Map<string, Message[]>();
  for (const message of messages()) {
    const thread = message.imported?.thread ?? '';
    const held = open.get(thread) ?? [];
    held.push(message);
    open.set(thread, held);
    if (held.length < (lengths.get(thread) ?? 0)) continue;
    open.delete(thread);
    const title = held.find(({ imported }) => imported?.title !== undefined)?.imported?.title ?? '';
    const said = held.filter(({ content }) => content.length > 0);
    if (said.length > 0) yield threadOf(uuidOf(book, thread), title, said, read, leaveOut);
  }
}

function threadOf(
  uuid: string,
  title: string,
  messages: readonly Message[],
  read: ReadAttachment,
  leaveOut: LeaveOut,
): SpokenThread {
  return {
    uuid,
    title,
    messages: messages.flatMap((message) => {
      const spoken = spokenOf(message, uuidOf(uuid, nameOf(message)), read, leaveOut);
      return spoken.files.length + spoken.parts.length > 0 ? [spoken] : [];
    }),
  };
}

/** The name of a message, the same on every machine and in every export. */
const nameOf = (message: Message | undefined): string =>
  message === undefined ? '' : `${message.at} ${message.uid ?? message.imported?.id ?? message.id}`;

function spokenOf(message: Message, uuid: string, read: ReadAttachment, leaveOut: LeaveOut): SpokenMessage {
  const own = spokenParts(message.content);
  leaveOut('notes that hi added', message.content.length - own.length);
  const content = message.role === 'assistant' ? withWholeTexts(own) : own;
  const typed = message.role === 'user' ? content.findLast(isPart('text')) : undefined;
  const files: SpokenFile[] = [];
  const parts: SpokenMessage['parts'][number][] = [];
  for (const part of content) {
    if (part.type === 'vendor') leaveOut('notes of vendors for themselves');
    else if (part.type === 'image' || part.type === 'document') files.push(fileOf(part, read));
    else if (part.type === 'text' && message.role === 'user' && part !== typed) files.push(textFile(part));
    else if (part.type !== 'text' && part.type !== 'thinking') parts.push(part);
    else if (part.text !== '') parts.push(part);
  }
  return { message, uuid, files, parts };
}

function fileOf(part: ImagePart | DocumentPart, read: ReadAttachment): SpokenFile {
  const name = part.name ?? `${part.type}.${part.mime.replace(/^.*\//, '')}`;
  return { name, mime: part.mime, part, read: () => read(part.sha256) };
}

/** A file, or what was piped in, that became text of its message. */
function textFile({ text }: TextPart): SpokenFile {
  const { name, text: content } = readFileBlock(text) ?? { name: 'text.txt', text };
  return { name, mime: 'text/plain', part: null, read: async () => Buffer.from(content) };
}

/** The result of a tool as text. */
export function outputOf({ result, error }: ToolResultPart): string {
  return error ?? (typeof result === 'string' ? result : JSON.stringify(result));
}

/** The texts among parts. */
export const textsOf = (parts: readonly Part[]): string =>
  parts
    .filter(isPart('text'))
    .map(({ text }) => text)
    .join('\n\n');

/** A UUID that depends on the words alone. */
export function uuidOf(...words: readonly string[]): string {
  const hex = createHash('sha1').update(JSON.stringify(words)).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `5${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
