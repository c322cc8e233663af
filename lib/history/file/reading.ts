import type { Entry } from '../../chat/entry.js';
import { ArraySplitter } from './entries/array-splitter.js';
import { entryIn } from './entries/entries.js';
import { bufferedReader, decompressFrame, partReader } from './frames/bytes.js';
import { Damaged } from './frames/damaged.js';
import { frameAt, frameHeaderAt } from './frames/frame-headers.js';
import type { LogFile } from './log-file.js';
import { type FramePlace, SEALED_SIZE } from './sealed-frame.js';
import { type FrameSource, rowsBefore } from './tail.js';

/** So many pieces stay decompressed: what is looked at often lies close together. */
const HELD = 4;

/** What most of them fit into. */
const ROOM = SEALED_SIZE + 64 * 1024;

/** Where pieces were that are looked at no more: a search looks at many, and fresh memory for each would stay until it is collected. */
const rooms: Buffer[] = [];

/** The pieces of an open file as they were listed last: that takes time and room. */
const listed = new WeakMap<LogFile, readonly FramePlace[]>();

/** Where the content of a piece is that is only looked through. */
const scanned = Buffer.allocUnsafeSlow(ROOM);

/** The content of a piece, and where it may be. */
interface Held {
  readonly room: Buffer;
  readonly content: Buffer;
}

/** An entry, and where its JSON begins in its piece. */
interface PlacedEntry {
  readonly entry: Entry;
  readonly place: number;
}

/** What a conversation holds, for reading here and there: what is sealed piece by piece, and the rest. Stays what it was when it was opened. */
export class Reading {
  readonly #file: LogFile;
  readonly #held = new Map<number, Held>();
  #rest: readonly Entry[] | null = null;
  readonly log: string;
  /** Changes with what `rest` gives. */
  readonly restVersion: string;
  readonly pieces: readonly FramePlace[];

  /** Reads what was opened once more of a file that is open. */
  static of(open: LogFile, again: LogFile): Reading {
    // As long as it is open, no other file has its id.
    const isSame = again.fileId === open.fileId;
    const reading = new Reading(again, isSame ? listed.get(open) : []);
    if (isSame) listed.set(open, reading.pieces);
    return reading;
  }

  /** `known` are the pieces of this very file at another time: sealed frames never change. */
  private constructor(file: LogFile, known: readonly FramePlace[] = []) {
    this.#file = file;
    this.log = file.log;
    const last = known.at(-1);
    const isWhole = last !== undefined && last.offset + last.size === file.source.tail.mutableStart;
    this.pieces = isWhole ? known : sealedFrames(file.source);
    this.restVersion = file.unsealedVersion;
  }

  /** The entries of a piece, each with where its JSON begins. Throws `Damaged`. */
  read(piece: FramePlace): readonly PlacedEntry[] {
    return [...placedEntries(contentOf(this.#file.source, piece), 0)];
  }

  /** The JSON of a piece with plain letters in lower case. It holds until the next is read. Throws `Damaged`. */
  json(piece: FramePlace): Buffer {
    const content = contentOf(this.#file.source, piece, scanned);
    for (let at = 0; at < content.length; at += 1) {
      const byte = content[at] ?? 0;
      if (byte > 64 && byte < 91) content[at] = byte | 32;
    }
    return content;
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
    const known = this.#held.get(piece.offset);
    // The one that was looked at longest ago goes first.
    const [oldest] = this.#held.keys();
    if (known !== undefined) this.#held.delete(piece.offset);
    else if (this.#held.size >= HELD && oldest !== undefined) this.#leave(oldest);
    const held = known ?? this.#take(piece);
    this.#held.set(piece.offset, held);
    return held.content;
  }

  #take(piece: FramePlace): Held {
    const room = rooms.pop() ?? Buffer.allocUnsafeSlow(ROOM);
    return { room, content: contentOf(this.#file.source, piece, room) };
  }

  #leave(offset: number): void {
    const held = this.#held.get(offset);
    this.#held.delete(offset);
    if (held !== undefined && rooms.length < HELD) rooms.push(held.room);
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
    for (const offset of [...this.#held.keys()]) this.#leave(offset);
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

/** The frames that are sealed for good, oldest first. Reads the seek table. Throws `Damaged`. */
function sealedFrames({ file, tail: { mutableStart, size } }: FrameSource): readonly FramePlace[] {
  let end = 0;
  const rows = rowsBefore(bufferedReader(file), size, mutableStart).map((row) => {
    end += row.size;
    return { offset: end - row.size, ...row };
  });
  return rows.filter(({ content }) => content > 1);
}

/** The content of one of them, maybe in `room`. Throws `Damaged`. */
function contentOf({ codec, file }: FrameSource, place: FramePlace, room?: Buffer): Buffer {
  const { offset, size, content } = place;
  const read = partReader(file, offset, size);
  // Where the frame says what the seek table does, its blocks need not be looked at one by one.
  if (frameHeaderAt(read, offset)?.contentSize === content) {
    return decompressFrame(codec, read, { offset, size, content, exact: true }, room);
  }
  const frame = frameAt(read, offset, offset + size);
  if (frame?.kind !== 'data') throw new Damaged(`No whole frame begins at byte ${offset}.`);
  return decompressFrame(codec, read, frame, room);
}
