import type { Entry } from '../../chat/entry.js';

/** A part of the conversation that is sealed on disk for good. */
export interface Piece {
  /** Where it begins in the file, and how long it is there and as JSON: together they tell it from any other. */
  readonly offset: number;
  readonly size: number;
  readonly content: number;
}

/** An entry of a piece, and where its JSON begins in the content. */
export interface PlacedEntry {
  readonly entry: Entry;
  readonly place: number;
}

/** The conversation as it was when it was opened for reading, until it is closed. */
export interface Archive {
  /** Names the conversation: another one after a reset. */
  readonly log: string;
  /** What is sealed, oldest first. */
  readonly pieces: readonly Piece[];
  /** The entries of a piece. Throws when it cannot be read. */
  read(piece: Piece): readonly PlacedEntry[];
  /** The JSON of a piece with plain letters in lower case. It holds until the next is read. Throws when it cannot be read. */
  json(piece: Piece): Buffer;
  /** The entry of a piece whose JSON begins there. Throws when there is none. */
  readAt(piece: Piece, place: number): Entry;
  /** The entries of a piece from the one whose JSON begins there, read as they are taken. Throws when there is none. */
  readFrom(piece: Piece, place: number): Iterable<PlacedEntry>;
  /** Changes with what `rest` gives. */
  readonly restVersion: string;
  /** What is not sealed yet, oldest first. */
  rest(): readonly Entry[];
  close(): void;
}
