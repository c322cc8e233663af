import { type Entry, storedText } from '../../chat/entry.js';
import { type Facts, NO_FACTS, withEntry } from './facts.js';
import {
  HEADER_SIZE,
  OPENING,
  roundUpToBlock,
  type SeekRow,
  SPACE_MAGIC,
  skippableHeader,
  spaceFor,
  tableFrame,
  tableSize,
} from './file-layout.js';
import { writeAt } from './frames/bytes.js';
import type { Codec } from './frames/codec.js';
import { type FrameStart, logEnd, neededFrom, SEALED_SIZE, sealedFrame } from './sealed-frame.js';

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
