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

/**
 * Packs the days of documents as runs: the number of documents with the same day, and the difference to the previous
 * day. Odd numbers are negative differences.
 */
export function packDays(days: Uint16Array): Uint8Array {
  const bytes: number[] = [];
  for (let at = 0, last = 0; at < days.length; ) {
    const day = days[at] ?? 0;
    let end = at + 1;
    while (end < days.length && days[end] === day) end += 1;
    pushNumber(bytes, end - at);
    pushNumber(bytes, day >= last ? 2 * (day - last) : 2 * (last - day) - 1);
    [at, last] = [end, day];
  }
  return Uint8Array.from(bytes);
}

export function unpackDays(bytes: Uint8Array, count: number): Uint16Array {
  const days = new Uint16Array(count);
  const numbers = new NumberReader(bytes);
  for (let at = 0, day = 0; at < count && !numbers.isAtEnd; ) {
    const end = at + numbers.next();
    const step = numbers.next();
    day += step % 2 === 0 ? step / 2 : -(step + 1) / 2;
    days.fill(day, at, end);
    at = end;
  }
  return days;
}

/** The entry of a document: its id, and the position of its JSON in the content of the piece. */
export interface Spot {
  readonly id: number;
  readonly place: number;
}

/** The number of spots in a group, which is unpacked to find one of them. */
const GROUP = 32;

/**
 * Packs the spots of the documents of one piece: the number of groups, their lengths, and the groups, each as
 * differences to the previous spot.
 */
export function packSpots(spots: readonly Spot[]): Uint8Array {
  const groups: number[][] = [];
  for (let at = 0; at < spots.length; at += GROUP) groups.push(packedGroup(spots.slice(at, at + GROUP)));
  const head: number[] = [];
  for (const number of [groups.length, ...groups.map(({ length }) => length)]) pushNumber(head, number);
  return Uint8Array.from([head, ...groups].flat());
}

function packedGroup(spots: readonly Spot[]): number[] {
  const bytes: number[] = [];
  let last: Spot = { id: 0, place: 0 };
  for (const spot of spots) {
    pushNumber(bytes, spot.id - last.id);
    pushNumber(bytes, spot.place - last.place);
    last = spot;
  }
  return bytes;
}

/** The ids of the documents of one piece. */
export function unpackIds(bytes: Uint8Array): readonly number[] {
  const numbers = new NumberReader(bytes);
  const lengths = Array.from({ length: numbers.next() }, () => numbers.next());
  const ids: number[] = [];
  for (const length of lengths) {
    const end = numbers.at + length;
    for (let id = 0; numbers.at < end; numbers.next()) {
      id += numbers.next();
      ids.push(id);
    }
  }
  return ids;
}

/** The spot of the document with that number in its piece. */
export function unpackSpot(bytes: Uint8Array, number: number): Spot {
  const numbers = new NumberReader(bytes);
  const groups = numbers.next();
  let before = 0;
  for (let group = 0; group < groups; group += 1) {
    const length = numbers.next();
    if (group < Math.floor(number / GROUP)) before += length;
  }
  numbers.at += before;
  let id = 0;
  let place = 0;
  for (let index = 0; index <= number % GROUP; index += 1) {
    id += numbers.next();
    place += numbers.next();
  }
  return { id, place };
}

/** Appends a number of variable length: seven bits per byte, lowest first. */
export function pushNumber(bytes: number[], value: number): void {
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

/** Reads such numbers. */
export class NumberReader {
  readonly #bytes: Uint8Array;
  at: number;

  /** Begins at byte `at`. */
  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#bytes.length;
  }

  next(): number {
    const byte = this.#bytes[this.at++] ?? 0;
    return byte < 128 ? byte : this.#rest(byte & 127);
  }

  /** Reads the rest of a long number. Most are short, and V8 compiles them alone. */
  #rest(low: number): number {
    let value = low;
    for (let factor = 128; ; factor *= 128) {
      const byte = this.#bytes[this.at++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }
}
