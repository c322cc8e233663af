import { bringsForeign, type Entry, hasForeignParts, isCompressBlock, isMessage } from '../chat/entry.js';
import type { Message } from '../chat/message.js';
import { type Archive, documentKind, type Piece } from './index/documents.js';
import type { PlainKind } from './index/part.js';

/** A search. */
export interface Search {
  /** The words; text in quotes must occur literally. Without words, everything in the given period. */
  readonly query: string;
  readonly who: Message['role'] | null;
  /** Inclusive, like `until`. */
  readonly from: Date | null;
  readonly until: Date | null;
  /** Only messages with all the words, if there are any. */
  readonly every?: boolean;
  /** The number of hits wanted. */
  readonly count: number;
}

/** A message and its origin. */
export interface Said {
  readonly message: Message;
  readonly origin: Origin;
  /** The imported book that it is in; absent if it is in the conversation. */
  readonly book?: string;
}

/** What a message is called: `#12` in the conversation, `#chatgpt:12` in a book. */
export const idOf = ({ message, book }: Pick<Said, 'message' | 'book'>, id = message.id): string =>
  `#${book === undefined ? '' : `${book}:`}${id}`;

/** A message that was found. */
export interface Hit extends Said {
  readonly kind: PlainKind;
  /** Its searchable text. */
  readonly text: string;
  /** The messages right before and after it. */
  readonly before: Said | null;
  readonly after: Said | null;
  /** The certainty of the match, and the id of a newer message with the same words, null for none. */
  readonly certainty: number;
  readonly newer: number | null;
}

/** The outcome of a search. */
export interface Found {
  /** Best first. */
  readonly hits: readonly Hit[];
  /** False if no hit has all the words. */
  readonly isWhole: boolean;
  /** The number of further hits that match about as well. */
  readonly more: number;
  /** The share of the conversation that is not indexed yet and was not searched, from 0 to 1. */
  readonly unsearched: number;
}

/** The outcome without the unsearched share. */
export type Finds = Omit<Found, 'unsearched'>;

/** Whether a message is in the period of the search. */
export function isWithin({ at }: Message, { from, until }: Pick<Search, 'from' | 'until'>): boolean {
  const time = Date.parse(at);
  return (from === null || time >= from.getTime()) && (until === null || time <= until.getTime());
}

/** A message to recall automatically. */
export interface Reminder extends Said {
  /** Its searchable text. */
  readonly text: string;
  readonly certainty: number;
}

/** The outcome of automatic recall. */
export interface Reminded {
  /** Best first. */
  readonly reminders: readonly Reminder[];
  /** The certainty of the best match, and the thresholds. */
  readonly best: number;
  readonly thresholds: { readonly whole: number; readonly newest: number };
}

/**
 * The message with that id, and up to `before` messages before and `after` messages after it, oldest first. Throws read
 * errors.
 */
export function messagesAround(archive: Archive, id: number, before: number, after: number): readonly Message[] {
  const { pieces } = archive;
  const messagesOf = (index: number): readonly Message[] => entriesOf(archive, index).filter(isMessage);
  const low = pieceOf(archive, id);
  let found = messagesOf(low);
  for (let index = low - 1; index >= 0 && found.filter((message) => message.id < id).length < before; index -= 1) {
    found = [...messagesOf(index), ...found];
  }
  for (
    let index = low + 1;
    index <= pieces.length && found.filter((message) => message.id > id).length < after;
    index += 1
  ) {
    found = [...found, ...messagesOf(index)];
  }
  const place = found.findLastIndex((message) => message.id <= id);
  return found.slice(Math.max(0, place - before), place + after + 1);
}

/**
 * The message with that id and up to `reach` before and after it; or a compaction, between the messages before and
 * after its place. Empty if there is neither. Throws read errors.
 */
export function entriesAround(archive: Archive, id: number, reach: number): readonly Entry[] {
  const entry = entriesOf(archive, pieceOf(archive, id)).find((one) => one.id === id);
  if (entry === undefined) return [];
  if (isMessage(entry)) return messagesAround(archive, id, reach, reach);
  if (!isCompressBlock(entry)) return [];
  const next = entry.first_kept ?? id;
  const messages = messagesAround(archive, next, reach, reach);
  const place = messages.findIndex((message) => message.id >= next);
  const before = place === -1 ? messages : messages.slice(0, place);
  return [...before, entry, ...messages.slice(before.length)];
}

/** The entries of a piece; after the last piece those that are in none. */
function entriesOf(archive: Archive, index: number): readonly Entry[] {
  const piece = archive.pieces[index];
  return piece === undefined ? archive.rest() : archive.read(piece).map(({ entry }) => entry);
}

/** The index of the piece that has the id, if any has. */
function pieceOf(archive: Archive, id: number): number {
  const idAt = (index: number): number => {
    const piece = archive.pieces[index];
    return (piece === undefined ? archive.rest()[0]?.id : archive.readAt(piece, 0).id) ?? Number.POSITIVE_INFINITY;
  };
  let [low, high] = [0, archive.pieces.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (idAt(middle) <= id) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The entries from a position in a piece on, read lazily. Throws read errors. */
export function* entriesFrom(archive: Archive, piece: Pick<Piece, 'offset'>, place: number): Generator<Entry> {
  const first = archive.pieces.findIndex(({ offset }) => offset === piece.offset);
  for (let index = first; index >= 0 && index < archive.pieces.length; index += 1) {
    const next = archive.pieces[index];
    if (next === undefined) break;
    for (const { entry } of archive.readFrom(next, index === first ? place : 0)) yield entry;
  }
  if (first >= 0) yield* archive.rest();
}

/**
 * The origin of a message, according to the log. `foreign`: the model's own words after it had read, in that turn, text
 * that neither it nor the user wrote.
 */
export type Origin = 'user' | 'model' | 'foreign' | 'tool';

/** If a turn has more messages than this before a message, it counts as one with foreign content. */
export const ORIGIN_REACH = 64;

/** The origin of a message; `before` returns the messages that lead to it. */
export function originOf(message: Message, before: () => readonly Message[]): Origin {
  switch (documentKind(message)) {
    case 'user':
      // Said by the user of another conversation.
      return message.rests_on === 'foreign' ? 'foreign' : 'user';
    case 'tool':
    case 'note':
      return 'tool';
    case 'model':
    case 'call':
      return bringsForeign(message) || hasRead(message, before()) ? 'foreign' : 'model';
  }
}

/**
 * Whether the model had read foreign text when it wrote this: a tool's result, a file, piped input, the output of a
 * command, or a summary of such text.
 */
function hasRead({ id, turn }: Message, messages: readonly Message[]): boolean {
  const begin = messages.findIndex((message) => message.id === turn);
  if (begin < 0) return true;
  const own = messages.slice(begin).filter((message) => message.turn === turn && message.id < id);
  const note = messages[begin - 1];
  if (note !== undefined && documentKind(note) === 'note') return true;
  return own.some(bringsForeign);
}

const LABELS: Readonly<Record<Origin, string>> = {
  user: 'user said',
  model: 'model said',
  foreign: 'model said after reading foreign content',
  tool: 'tool output',
};

const MORE: Readonly<Partial<Record<PlainKind, string>>> = {
  call: ', as a tool call',
  note: ' of a command the user ran',
};

/** The label of a message, for the model. */
export function originLabel(message: Message, origin: Origin): string {
  return (
    LABELS[origin] + (MORE[documentKind(message)] ?? (hasForeignParts(message) ? ', with files or input attached' : ''))
  );
}
