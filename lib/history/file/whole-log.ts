import { type Entry, storedText } from '../../chat/entry.js';
import { firstNeeded } from '../../view/view.js';
import { progress } from '../base/notices.js';
import { heartbeat } from '../lock/holder.js';
import { type Codec, decompressFrame, writeAt } from './codec.js';
import { ArraySplitter, entryIn, ID_LIMIT } from './entries.js';
import { Damaged, frameAt, type ReadBytes, Unordered } from './frames.js';
import {
  type Facts,
  HEADER_SIZE,
  NO_FACTS,
  OPENING,
  roundUpToBlock,
  type SeekRow,
  SPACE_MAGIC,
  skippableHeader,
  spaceFor,
  tableFrame,
  tableSize,
  withEntry,
} from './layout.js';
import { type FrameStart, logEnd, neededFrom, SEALED_SIZE, sealedFrame } from './tail.js';

/** Writes a whole log into an empty file, entry by entry, with one frame in memory. */
export class LogWriter {
  readonly #codec: Codec;
  readonly #file: number;
  readonly #log: string;
  readonly #rows: SeekRow[] = [{ size: OPENING.length, content: 1 }];
  readonly #starts: FrameStart[] = [];
  #offset = OPENING.length;
  #facts: Facts = NO_FACTS;
  #texts: string[] = [];
  #first = 0;
  #length = 0;

  constructor(codec: Codec, file: number, log: string) {
    this.#codec = codec;
    this.#file = file;
    this.#log = log;
    writeAt(file, OPENING, 0);
  }

  add(entry: Entry): void {
    const text = (this.#facts.entries === 0 ? '' : ',') + storedText(entry);
    if (this.#texts.length === 0) this.#first = entry.id;
    this.#texts.push(text);
    this.#length += text.length;
    this.#facts = withEntry(this.#facts, entry);
    if (this.#length >= SEALED_SIZE) this.#writeSealed();
  }

  /** Seals what is left, although it is less than a piece: of a log to which nothing is appended. */
  seal(): void {
    if (this.#length > 0) this.#writeSealed();
  }

  /** Closes the array. `needed` is the id of the first entry that the view needs, null for none. */
  finish(needed: number | null): void {
    const content = this.#takeContent();
    const from = neededFrom(this.#starts, content.length > 0 ? this.#first : null, needed);
    const body = { log: this.#log, facts: this.#facts, needed: from };
    const bytes = logEnd(this.#codec, body, content);
    const size = this.#offset + bytes.length;
    const table = tableSize(this.#rows.length + 1);
    const end = roundUpToBlock(size + HEADER_SIZE + spaceFor(size) + table);
    const space = end - table - size - HEADER_SIZE;
    const rest = { size: end - table - this.#offset, content: content.length + 1 };
    const parts = [bytes, skippableHeader(SPACE_MAGIC, space), Buffer.alloc(space), tableFrame([...this.#rows, rest])];
    writeAt(this.#file, Buffer.concat(parts), this.#offset);
  }

  #writeSealed(): void {
    const { bytes, rows } = sealedFrame(this.#codec, this.#takeContent());
    writeAt(this.#file, bytes, this.#offset);
    this.#starts.push({ offset: this.#offset, id: this.#first });
    for (const row of rows) this.#rows.push(row);
    this.#offset += bytes.length;
  }

  #takeContent(): Buffer {
    const content = Buffer.from(this.#texts.join(''));
    this.#texts = [];
    this.#length = 0;
    return content;
  }
}

/** The size of the chunks in which a large frame is parsed. */
const CHUNK_SIZE = 1024 * 1024;

/**
 * The entries of any file that decompresses to one JSON array, whatever its frames, in chunks. Throws `Damaged` when a
 * frame or the array is incomplete, and at the end `Unordered` when an element is not an entry or out of order.
 */
export function* entriesOfArray(
  codec: Codec,
  read: ReadBytes,
  size: number,
  what = 'Reading the history',
): Generator<readonly Entry[]> {
  try {
    yield* entriesIn(contentChunks(codec, read, size, what));
  } finally {
    progress(what, size, size);
  }
}

function* entriesIn(pieces: Iterable<Buffer>): Generator<readonly Entry[]> {
  const splitter = new ArraySplitter();
  let last = 0;
  let ordered = true;
  for (const piece of pieces) {
    heartbeat();
    const entries: Entry[] = [];
    for (const text of splitter.push(piece)) {
      const entry = entryIn(text);
      ordered &&= entry !== null && entry.id > last && entry.id < ID_LIMIT;
      if (entry === null || !ordered) continue;
      last = entry.id;
      entries.push(entry);
    }
    yield entries;
  }
  if (!splitter.isWhole) throw new Damaged('The frames do not hold one JSON array.');
  if (!ordered) throw new Unordered('The array holds elements that are not entries, or not in order.');
}

function* contentChunks(codec: Codec, read: ReadBytes, size: number, what: string): Generator<Buffer> {
  for (let at = 0; at < size; ) {
    const frame = frameAt(read, at, size);
    if (frame === null) throw new Damaged(`No whole frame begins at byte ${at}.`);
    if (frame.kind === 'data') {
      const content = decompressFrame(codec, read, frame);
      for (let start = 0; start < content.length; start += CHUNK_SIZE) {
        progress(what, at + (frame.size * start) / content.length, size);
        yield content.subarray(start, start + CHUNK_SIZE);
      }
    }
    at += frame.size;
  }
}

/** The number of additions after which older entries are pruned again. */
const PRUNE_AFTER = 10_000;

/** Collects the entries that the view needs from a whole log. */
export class RecentEntries {
  #entries: Entry[] = [];
  #facts: Facts = NO_FACTS;
  #limit = PRUNE_AFTER;

  add(entry: Entry): void {
    this.#entries.push(entry);
    this.#facts = withEntry(this.#facts, entry);
    if (this.#entries.length < this.#limit) return;
    const first = this.first;
    if (first !== this.#entries[0]?.id) this.#entries = this.#entries.filter(({ id }) => first !== null && id >= first);
    this.#limit = Math.ceil(1.5 * this.#entries.length) + PRUNE_AFTER;
  }

  /** The entries from the first one that the view needs. */
  get entries(): readonly Entry[] {
    const first = this.first;
    if (first === null) return [];
    return first === this.#entries[0]?.id ? this.#entries : this.#entries.filter(({ id }) => id >= first);
  }

  /** The id of the first one that the view needs, null for none. */
  get first(): number | null {
    return firstNeeded(this.#entries);
  }

  get facts(): Facts {
    return this.#facts;
  }
}
