import { isMessage } from '../chat/entry.js';
import type { Message } from '../chat/message.js';
import { undoneAfter } from './disk/build.js';
import { DamagedSegment } from './disk/pages.js';
import type { Segment } from './disk/segment.js';
import type { Archive } from './index/documents.js';
import type { Kind } from './index/part.js';
import type { Scores } from './rank/scores.js';
import { entriesFrom, messagesAround, ORIGIN_REACH, type Origin, originOf, type Said } from './search.js';
import type { UnsealedTail } from './unsealed-tail.js';

/** The kinds of messages that begin a turn. */
const ASKED: readonly Kind[] = ['user', 'attached'];

/** The number of cached messages. A search for a phrase reads thousands, most of them once. */
const AT_HAND = 64;

/** All searchable documents as one sequence, each with its message. */
export class Library {
  readonly scores: Scores;
  readonly #archive: Archive;
  readonly #segments: readonly Segment[];
  readonly #tail: UnsealedTail;
  readonly #undone: ReadonlySet<number>;
  readonly #read = new Map<number, Message | null>();
  readonly #documents = new WeakMap<Message, number>();
  readonly #origins = new WeakMap<Message, Origin>();

  constructor(archive: Archive, segments: readonly Segment[], tail: UnsealedTail, scores: Scores) {
    this.scores = scores;
    this.#archive = archive;
    this.#segments = segments;
    this.#tail = tail;
    this.#undone = undoneAfter([...segments.flatMap(({ undone }) => undone), ...tail.undone]);
  }

  /** The message of a document; null if it was undone or cannot be read. Throws `DamagedSegment`. */
  message(document: number): Message | null {
    let message = this.#read.get(document);
    if (message === undefined) {
      message = this.#load(document);
      const [oldest] = this.#read.keys();
      if (this.#read.size >= AT_HAND && oldest !== undefined) this.#read.delete(oldest);
      this.#read.set(document, message);
      if (message !== null) this.#documents.set(message, document);
    }
    return message === null || this.isUndone(message) ? null : message;
  }

  /** The id of the message of a document; null if it was undone or cannot be read. Reads it only where turns were undone. Throws like `message`. */
  idOf(document: number): number | null {
    const spot = this.#undone.size === 0 ? this.#spot(document) : null;
    return spot?.id ?? this.message(document)?.id ?? null;
  }

  /** Whether the words by which the last search found a document still exist: its own, or those of neighbours that were not undone. Throws like `message`. */
  isFound(document: number): boolean {
    if (this.#undone.size === 0) return true;
    for (const near of this.scores.near(document)) if (this.message(near) !== null) return true;
    return false;
  }

  /** A message with its origin. Throws read errors. */
  said<Given extends Message | null>(message: Given): Given extends null ? null : Said;
  said(message: Message | null): Said | null {
    if (message === null) return null;
    const origin = this.#origins.get(message) ?? this.#originOf(message);
    this.#origins.set(message, origin);
    return { message, origin };
  }

  /** Whether the user undid it. */
  isUndone({ turn }: Message): boolean {
    return this.#undone.has(turn);
  }

  #originOf(message: Message): Origin {
    const document = this.#documents.get(message);
    // The index says `model` only if it knows everything that the model had read. Otherwise the log decides.
    if (document !== undefined && this.scores.kindOf(document) === 'model') return 'model';
    return originOf(message, () => this.#leadingTo(message));
  }

  /** The messages that lead to one, beginning before its turn; only some of them if the turn is very long. */
  #leadingTo(message: Message): readonly Message[] {
    const leading = this.#sinceLastAsked(message);
    const isWhole = leading.some(({ id }) => id === message.turn);
    return isWhole ? leading : messagesAround(this.#archive, message.id, ORIGIN_REACH, 0);
  }

  #sinceLastAsked(message: Message): readonly Message[] {
    const document = this.#documents.get(message);
    const from = document === undefined ? null : this.#spot(this.#beforeTurnOf(document));
    if (from === null) return [];
    const leading: Message[] = [];
    for (const entry of entriesFrom(this.#archive, from.piece, from.place)) {
      if (entry.id >= message.id) break;
      if (isMessage(entry)) leading.push(entry);
    }
    return leading;
  }

  /** The document before the turn of a document. */
  #beforeTurnOf(document: number): number {
    const least = Math.max(0, document - ORIGIN_REACH);
    let first = document - 1;
    while (first > least && !ASKED.includes(this.scores.kindOf(first))) first -= 1;
    return Math.max(least, first - 1);
  }

  /** The spot of a document; null if it is not sealed. */
  #spot(document: number): ReturnType<Segment['spot']> {
    const { part, local } = this.scores.locate(document);
    return this.#segments[part]?.spot(local) ?? null;
  }

  #load(document: number): Message | null {
    if (document < 0 || document >= this.scores.count) return null;
    const { part, local } = this.scores.locate(document);
    if (this.#segments[part] === undefined) return this.#tail.message(part - this.#segments.length, local);
    const spot = this.#spot(document);
    const entry = spot === null ? null : this.#archive.readAt(spot.piece, spot.place);
    if (entry !== null && entry.id !== spot?.id) {
      this.#segments[part]?.distrust();
      throw new DamagedSegment(`Document ${document} is not #${spot?.id}.`);
    }
    return entry !== null && isMessage(entry) ? entry : null;
  }
}
