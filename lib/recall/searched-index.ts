import { isMessage, type Message } from '../chat/message.js';
import type { Segment } from './disk/segment.js';
import type { Archive, Piece } from './index/archive.js';
import { searchedText } from './index/documents.js';
import { Origins } from './origin.js';
import type { Scores } from './rank/scores.js';
import type { Said } from './search.js';
import type { UnsealedTail } from './unsealed-tail.js';

/** Everything that can be found now, as one run of documents, each with its message. */
export class Library {
  readonly scores: Scores;
  readonly #archive: Archive;
  readonly #segments: readonly Segment[];
  readonly #tail: UnsealedTail;
  readonly #origins: Origins;
  readonly #undone: ReadonlySet<number>;
  readonly #read = new Map<number, Message | null>();

  constructor(archive: Archive, segments: readonly Segment[], tail: UnsealedTail, scores: Scores) {
    this.scores = scores;
    this.#archive = archive;
    this.#segments = segments;
    this.#tail = tail;
    this.#origins = new Origins(archive);
    this.#undone = new Set([...segments.flatMap(({ undone }) => undone), ...tail.undone]);
  }

  /** The message of a document; null for one that was taken back, or that cannot be read. Throws `DamagedSegment` for a segment that is. */
  message(document: number): Message | null {
    let message = this.#read.get(document);
    if (message === undefined) {
      message = this.#load(document);
      this.#read.set(document, message);
    }
    return message === null || this.isUndone(message) ? null : message;
  }

  /** A message with its origin. Throws what reading throws. */
  said<Given extends Message | null>(message: Given): Given extends null ? null : Said;
  said(message: Message | null): Said | null {
    return message === null ? null : { message, origin: this.#origins.of(message) };
  }

  /** Whether the user took it back. */
  isUndone({ turn }: Message): boolean {
    return this.#undone.has(turn);
  }

  #load(document: number): Message | null {
    if (document < 0 || document >= this.scores.count) return null;
    const { part, local } = this.scores.locate(document);
    const segment = this.#segments[part];
    if (segment === undefined) return this.#tail.messages[local] ?? null;
    const index = segment.pieces.findLastIndex((piece) => piece.document <= local);
    const piece = segment.pieces[index];
    if (piece === undefined) return null;
    const place = segment.place(local);
    return place === null ? this.#farMessage(piece, local - piece.document) : this.#messageAt(piece, place);
  }

  #messageAt(piece: Piece, place: number): Message | null {
    const entry = this.#archive.readAt(piece, place);
    return isMessage(entry) ? entry : null;
  }

  /** The message of a document by its number in the piece, where the piece is so long that places are not told. */
  #farMessage(piece: Piece, number: number): Message | null {
    const messages = this.#archive.read(piece).flatMap(({ entry }) => (isMessage(entry) ? [entry] : []));
    return messages.filter((message) => searchedText(message).trim() !== '')[number] ?? null;
  }
}
