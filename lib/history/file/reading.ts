import type { Entry } from '../../chat/message.js';
import { ArraySplitter } from './array-splitter.js';
import { Damaged } from './damaged.js';
import { entryIn } from './entries.js';
import type { LogFile } from './log-file.js';
import type { FramePlace } from './sealed-frame.js';

/** So many pieces stay decompressed: what is looked at often lies close together. */
const HELD = 24;

/** What a conversation holds, for reading here and there: what is sealed piece by piece, and the rest. Stays what it was when it was opened. */
export class Reading {
  readonly #file: LogFile;
  readonly #held = new Map<number, Buffer>();
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
  read(piece: FramePlace): readonly { readonly entry: Entry; readonly place: number }[] {
    const content = this.#file.contentOf(piece);
    return Array.from(new ArraySplitter().elements(content), ({ text, start }) => ({
      entry: entryOf(text),
      place: start,
    }));
  }

  /** The entry whose JSON begins at that place of a piece. Throws `Damaged`. */
  readAt(piece: FramePlace, place: number): Entry {
    let content = this.#held.get(piece.offset);
    if (content === undefined) {
      content = this.#file.contentOf(piece);
      const [oldest] = this.#held.keys();
      if (this.#held.size >= HELD && oldest !== undefined) this.#held.delete(oldest);
      this.#held.set(piece.offset, content);
    }
    const { value } = new ArraySplitter().push(content.subarray(place)).next();
    if (value === undefined) throw new Damaged(`No entry begins at ${place} in the piece at byte ${piece.offset}.`);
    return entryOf(value);
  }

  /** The id of the newest entry. */
  get last(): number {
    return this.#file.facts.last;
  }

  /** What is not sealed, oldest first. Throws `Damaged`. */
  rest(): readonly Entry[] {
    return this.#file.unsealed();
  }

  close(): void {
    this.#file.close();
  }
}

function entryOf(text: Buffer): Entry {
  const entry = entryIn(text);
  if (entry === null) throw new Damaged('A frame holds something that is not an entry.');
  return entry;
}
