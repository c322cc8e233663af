import type { Entry } from '../../chat/entry.js';
import { ArraySplitter } from './array-splitter.js';
import { Damaged } from './damaged.js';
import { entryIn } from './entries.js';
import type { LogFile } from './log-file.js';
import type { FramePlace } from './sealed-frame.js';

/** So many pieces stay decompressed: what is looked at often lies close together. */
const HELD = 24;

/** An entry, and where its JSON begins in its piece. */
interface PlacedEntry {
  readonly entry: Entry;
  readonly place: number;
}

/** What a conversation holds, for reading here and there: what is sealed piece by piece, and the rest. Stays what it was when it was opened. */
export class Reading {
  readonly #file: LogFile;
  readonly #held = new Map<number, Buffer>();
  #rest: readonly Entry[] | null = null;
  readonly log: string;
  /** Changes with what `rest` gives. */
  readonly restVersion: string;
  readonly pieces: readonly FramePlace[];

  constructor(file: LogFile) {
    this.#file = file;
    this.log = file.log;
    this.pieces = file.sealedFrames();
    this.restVersion = file.unsealedVersion;
  }

  /** The entries of a piece, each with where its JSON begins. Throws `Damaged`. */
  read(piece: FramePlace): readonly PlacedEntry[] {
    return [...placedEntries(this.#file.contentOf(piece), 0)];
  }

  /** The entry whose JSON begins at that place of a piece. Throws `Damaged`. */
  readAt(piece: FramePlace, place: number): Entry {
    for (const { entry } of this.readFrom(piece, place)) return entry;
    throw new Damaged(`No entry begins at ${place} in the piece at byte ${piece.offset}.`);
  }

  /** The entries of a piece from the one whose JSON begins at that place, read as they are taken. Throws `Damaged`. */
  readFrom(piece: FramePlace, place: number): Iterable<PlacedEntry> {
    return placedEntries(this.#contentOf(piece), place);
  }

  #contentOf(piece: FramePlace): Buffer {
    const held = this.#held.get(piece.offset);
    const content = held ?? this.#file.contentOf(piece);
    // The one that was looked at longest ago goes first.
    this.#held.delete(piece.offset);
    this.#held.set(piece.offset, content);
    const [oldest] = this.#held.keys();
    if (this.#held.size > HELD && oldest !== undefined) this.#held.delete(oldest);
    return content;
  }

  /** The id of the newest entry. */
  get last(): number {
    return this.#file.facts.last;
  }

  /** What is not sealed, oldest first. Throws `Damaged`. */
  rest(): readonly Entry[] {
    this.#rest ??= this.#file.unsealed();
    return this.#rest;
  }

  close(): void {
    this.#file.close();
  }
}

function* placedEntries(content: Buffer, from: number): Generator<PlacedEntry> {
  for (const { text, start } of new ArraySplitter().elements(content.subarray(from))) {
    yield { entry: entryOf(text), place: from + start };
  }
}

function entryOf(text: Buffer): Entry {
  const entry = entryIn(text);
  if (entry === null) throw new Damaged('A frame holds something that is not an entry.');
  return entry;
}
