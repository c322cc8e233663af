import { fstatSync, readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { Arena, PAGE } from '../index/part.js';

/** The number of bytes written at once. */
const CHUNK = 16 * PAGE;

const MAGIC = 'hirecall';

/** The size of the end of the file: the length of the footer, its checksum and the magic word. */
const ENDING = 16;

/** The maximum length of a footer. */
const FOOTER_LIMIT = 4096;

/** Thrown for a damaged file of the index. */
export class DamagedSegment extends Error {
  override readonly name = 'DamagedSegment';
}

/** Writes a file sequentially, and at the end a checksum for each page and a footer. */
export class PageWriter {
  readonly #file: number;
  readonly #sums: number[] = [];
  readonly #held = Buffer.allocUnsafe(CHUNK);
  #filled = 0;
  #written = 0;

  constructor(file: number) {
    this.#file = file;
  }

  /** The number of bytes so far. */
  get length(): number {
    return this.#written + this.#filled;
  }

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const count = Math.min(bytes.length - at, CHUNK - this.#filled);
      this.#held.set(bytes.subarray(at, at + count), this.#filled);
      this.#filled += count;
      at += count;
      if (this.#filled === CHUNK) this.#flush();
    }
  }

  /** Ends the file. `Pages` returns the `footer`. */
  finish(footer: object): void {
    this.#flush();
    const sums = Buffer.from(Uint32Array.from(this.#sums).buffer);
    const text = Buffer.from(JSON.stringify({ ...footer, length: this.#written, sums: crc32(sums) }));
    const ending = Buffer.alloc(ENDING);
    ending.writeUInt32LE(text.length, 0);
    ending.writeUInt32LE(crc32(text), 4);
    ending.write(MAGIC, 8, 'latin1');
    writeWhole(this.#file, Buffer.concat([sums, text, ending]));
  }

  #flush(): void {
    const bytes = this.#held.subarray(0, this.#filled);
    for (let at = 0; at < bytes.length; at += PAGE) this.#sums.push(crc32(bytes.subarray(at, at + PAGE)));
    writeWhole(this.#file, bytes);
    this.#written += this.#filled;
    this.#filled = 0;
  }
}

function writeWhole(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at);
}

/** The buffer for `look`. */
const looked = new Arena();

/** Reads such a file. Checks the checksum of each page that it reads, without reading other pages. */
export class Pages {
  readonly #file: number;
  readonly #sums: Uint32Array;
  readonly #length: number;
  /** The footer of the file. */
  readonly footer: object;

  /** Throws `DamagedSegment`. */
  constructor(file: number) {
    this.#file = file;
    const size = fstatSync(file).size;
    const end = readWhole(file, Math.max(0, size - FOOTER_LIMIT), Math.min(size, FOOTER_LIMIT));
    const footer = footerOf(end);
    const { length, sums } = footer;
    if (typeof length !== 'number' || typeof sums !== 'number') throw new DamagedSegment('The footer is incomplete.');
    const bytes = readWhole(file, length, 4 * Math.ceil(length / PAGE));
    if (crc32(bytes) !== sums) throw new DamagedSegment('The checksums are damaged.');
    this.#sums = new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    this.#length = length;
    this.footer = footer;
  }

  /** Returns a copy. Throws `DamagedSegment`. */
  read(offset: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(length);
    bytes.set(this.look(offset, length));
    return bytes;
  }

  /** The same without a copy. The result is valid until the next read. */
  look(offset: number, length: number): Buffer {
    looked.clear();
    const start = this.readInto(looked, offset, length);
    return looked.bytes.subarray(start, start + length);
  }

  /** Reads into an arena, and returns the position in its `bytes`. Throws `DamagedSegment`. */
  readInto(arena: Arena, offset: number, length: number): number {
    if (offset < 0 || length < 0 || offset + length > this.#length)
      throw new DamagedSegment('A position is outside the file.');
    const first = Math.floor(offset / PAGE);
    const size = Math.min(this.#length, Math.ceil((offset + length) / PAGE) * PAGE) - first * PAGE;
    const start = arena.take(size);
    fill(arena.bytes, start, size, this.#file, first * PAGE);
    for (let at = 0, page = first; at < size; at += PAGE, page += 1) {
      const isWhole = size - at >= PAGE;
      const bytes = isWhole ? arena.page(start + at) : arena.bytes.subarray(start + at, start + size);
      if (crc32(bytes) !== this.#sums[page]) throw new DamagedSegment(`Page ${page} is damaged.`);
    }
    return start + offset - first * PAGE;
  }
}

function footerOf(end: Buffer): { readonly length?: unknown; readonly sums?: unknown } {
  const start = end.length - ENDING;
  if (start < 0 || end.toString('latin1', start + 8) !== MAGIC) throw new DamagedSegment('The file has no end.');
  const text = end.subarray(start - end.readUInt32LE(start), start);
  if (crc32(text) !== end.readUInt32LE(start + 4)) throw new DamagedSegment('The footer is damaged.');
  const footer: unknown = JSON.parse(text.toString());
  if (typeof footer !== 'object' || footer === null) throw new DamagedSegment('The footer is empty.');
  return footer;
}

function readWhole(file: number, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length);
  fill(bytes, 0, length, file, offset);
  return bytes;
}

/** Reads `length` bytes of a file into a buffer. */
function fill(bytes: Buffer, start: number, length: number, file: number, offset: number): void {
  for (let filled = 0; filled < length; ) {
    const count = readSync(file, bytes, start + filled, length - filled, offset + filled);
    if (count === 0) throw new DamagedSegment('The file was cut off.');
    filled += count;
  }
}
