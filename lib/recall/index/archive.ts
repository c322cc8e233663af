import type { Entry } from '../../chat/entry.js';

/** A permanently sealed part of the conversation on disk. */
export interface Piece {
  /** Its offset in the file, its size there, and its size as JSON, which together identify it. */
  readonly offset: number;
  readonly size: number;
  readonly content: number;
}

/** An entry of a piece, and the position of its JSON in the content. */
export interface PlacedEntry {
  readonly entry: Entry;
  readonly place: number;
}

/** A snapshot of the conversation, until it is closed. */
export interface Archive {
  /** The name of the conversation, which changes with a reset. */
  readonly log: string;
  /** The sealed pieces, oldest first. */
  readonly pieces: readonly Piece[];
  /** The entries of a piece. Throws when it cannot be read. */
  read(piece: Piece): readonly PlacedEntry[];
  /** The JSON of a piece with ASCII letters in lower case. It is valid until the next read. Throws when it cannot be read. */
  json(piece: Piece): Buffer;
  /** The entry whose JSON begins at that position of a piece. Throws when there is none. */
  readAt(piece: Piece, place: number): Entry;
  /** The entries of a piece from that position on, read lazily. Throws when there is none. */
  readFrom(piece: Piece, place: number): Iterable<PlacedEntry>;
  /** Changes whenever the result of `rest` changes. */
  readonly restVersion: string;
  /** The unsealed entries, oldest first. */
  rest(): readonly Entry[];
  /**
   * Runs `work`, which writes what was derived from this snapshot, while no other process can change the conversation. False, without running it, if the
   * snapshot is no longer a beginning of the conversation. Throws system errors and a `HiError`.
   */
  ifCurrent(work: () => void): Promise<boolean>;
  close(): void;
}
