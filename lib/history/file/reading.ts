import type { Entry } from '../../chat/entry.js';
import { bufferedReader, decompressFrame, partReader } from './codec.js';
import { ArraySplitter, entryIn } from './entries.js';
import { Damaged, frameAt, frameHeaderAt } from './frames.js';
import type { LogFile } from './log-file.js';
import { type FramePlace, type FrameSource, rowsBefore, SEALED_SIZE } from './tail.js';

/** The number of cached decompressed pieces. Few are enough, because reads are close together. */
const CACHED = 4;

/** A buffer size that fits most of them. */
const ROOM = SEALED_SIZE + 64 * 1024;

/**
 * Buffers to reuse: a search reads many pieces, and a new buffer for each would fill the memory until it is collected.
 */
const rooms: Buffer[] = [];

/** The last list of the pieces of each open file, because creating it takes time and memory. */
const listed = new WeakMap<LogFile, readonly FramePlace[]>();

/** The buffer for a piece that is only scanned. */
const scanned = Buffer.allocUnsafeSlow(ROOM);

/** The content of a piece, and the buffer that it may be in. */
interface CachedPiece {
  readonly room: Buffer;
  readonly content: Buffer;
}

/** An entry, and the position of its JSON in its piece. */
interface PlacedEntry {
  readonly entry: Entry;
  readonly place: number;
}

/**
 * Random access to a conversation: to its sealed pieces, and to the rest. It is a snapshot of the time when it was
 * opened.
 */
export class Reading {
  readonly #file: LogFile;
  readonly #cached = new Map<number, CachedPiece>();
  readonly #rest: readonly Entry[];
  readonly log: string;
  /** Changes whenever the result of `rest` changes. */
  readonly restVersion: string;
  readonly pieces: readonly FramePlace[];

  /**
   * Reads `again`, a second handle for the file of `open`, which it closes in the end. Throws `Damaged`, also if
   * another process seals meanwhile.
   */
  static of(open: LogFile, again: LogFile): Reading {
    // While it is open, no other file has its id.
    const isSame = again.fileId === open.fileId;
    try {
      const reading = new Reading(again, isSame ? listed.get(open) : []);
      if (isSame) listed.set(open, reading.pieces);
      return reading;
    } catch (thrown) {
      again.close();
      throw thrown;
    }
  }

  /** `known` are the pieces of the same file at an earlier time: sealed frames never change. */
  private constructor(file: LogFile, known: readonly FramePlace[] = []) {
    this.#file = file;
    this.log = file.log;
    const last = known.at(-1);
    const isWhole = last !== undefined && last.offset + last.size === file.source.tail.mutableStart;
    this.pieces = isWhole ? known : sealedFrames(file.source);
    this.restVersion = file.unsealedVersion;
    // Read now: another process may seal it at any time, in place.
    this.#rest = file.unsealed();
  }

  /** The entries of a piece, with their positions. Throws `Damaged`. */
  read(piece: FramePlace): readonly PlacedEntry[] {
    return [...placedEntries(contentOf(this.#file.source, piece), 0)];
  }

  /** The JSON of a piece with ASCII letters in lower case. It is valid until the next read. Throws `Damaged`. */
  json(piece: FramePlace): Buffer {
    const content = contentOf(this.#file.source, piece, scanned);
    for (let at = 0; at < content.length; at += 1) {
      const byte = content[at] ?? 0;
      if (byte > 64 && byte < 91) content[at] = byte | 32;
    }
    return content;
  }

  /** The entry whose JSON begins at that position of a piece. Throws `Damaged`. */
  readAt(piece: FramePlace, place: number): Entry {
    for (const { entry } of this.readFrom(piece, place)) return entry;
    throw new Damaged(`No entry begins at ${place} in the piece at byte ${piece.offset}.`);
  }

  /** The entries of a piece from that position on, read lazily. Throws `Damaged`. */
  readFrom(piece: FramePlace, place: number): Iterable<PlacedEntry> {
    return placedEntries(this.#contentOf(piece), place);
  }

  #contentOf(piece: FramePlace): Buffer {
    const known = this.#cached.get(piece.offset);
    // Evict the least recently used one.
    const [oldest] = this.#cached.keys();
    if (known !== undefined) this.#cached.delete(piece.offset);
    else if (this.#cached.size >= CACHED && oldest !== undefined) this.#leave(oldest);
    const held = known ?? this.#take(piece);
    this.#cached.set(piece.offset, held);
    return held.content;
  }

  #take(piece: FramePlace): CachedPiece {
    const room = rooms.pop() ?? Buffer.allocUnsafeSlow(ROOM);
    return { room, content: contentOf(this.#file.source, piece, room) };
  }

  #leave(offset: number): void {
    const held = this.#cached.get(offset);
    this.#cached.delete(offset);
    if (held !== undefined && rooms.length < CACHED) rooms.push(held.room);
  }

  /** The id of the newest entry. */
  get last(): number {
    return this.#file.facts.last;
  }

  /** Identifies the file on its disk. */
  get fileId(): string {
    return this.#file.fileId;
  }

  /** The unsealed entries, oldest first. */
  rest(): readonly Entry[] {
    return this.#rest;
  }

  close(): void {
    for (const offset of [...this.#cached.keys()]) this.#leave(offset);
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
  if (entry === null) throw new Damaged('A frame contains something that is not an entry.');
  return entry;
}

/** The permanently sealed frames, oldest first. Reads the seek table. Throws `Damaged`. */
function sealedFrames({ file, tail: { mutableStart, size } }: FrameSource): readonly FramePlace[] {
  const frames: FramePlace[] = [];
  let offset = 0;
  for (const { size: length, content } of rowsBefore(bufferedReader(file), size, mutableStart)) {
    if (content > 1) frames.push({ offset, size: length, content });
    offset += length;
  }
  return frames;
}

/** The content of one of them, possibly in the buffer `room`. Throws `Damaged`. */
function contentOf({ codec, file }: FrameSource, place: FramePlace, room?: Buffer): Buffer {
  const { offset, size, content } = place;
  const read = partReader(file, offset, size);
  // If the frame header agrees with the seek table, the blocks need not be checked one by one.
  if (frameHeaderAt(read, offset)?.contentSize === content) {
    return decompressFrame(codec, read, { offset, size, content, exact: true }, room);
  }
  const frame = frameAt(read, offset, offset + size);
  if (frame?.kind !== 'data') throw new Damaged(`No whole frame begins at byte ${offset}.`);
  return decompressFrame(codec, read, frame, room);
}
