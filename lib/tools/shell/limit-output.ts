import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { firstCharacters, lastCharacters, newlinesIn } from '../../chat/text.js';
import type { SecretStream } from '../../permission/secrets.js';
import type { DeferredOutput, ReadOutput, ToolContext } from '../common/tool.js';
import { outputName, Spill } from './spill.js';

/** How many bytes of output that is too fast the screen gets at once. */
const SHOWN_BYTES = 32 * 1024;

/**
 * The bytes kept for each character of the tail: most characters take one, and a mask may be shorter than its secret.
 */
const TAIL_BYTES = 4;

/** One output stream, as the model gets it. */
interface LimitedOutput {
  readonly text: string;
  readonly truncated: boolean;
  /** The file with the full output, if `text` is truncated. */
  readonly file: string | null;
}

/**
 * Keeps the head and the tail of an output stream of any length in bounded memory; output that exceeds the limit is
 * written to a file in full. A failed write is not an error: then only head and tail remain.
 */
export class OutputKeeper {
  readonly #limit: number;
  readonly #spill: Spill;
  readonly #mask: SecretStream | null;
  readonly #decoder = new StringDecoder('utf8');
  #raw: Buffer[] = [];
  #head = '';
  #tail = '';
  #tailHasGap = false;
  #characters = 0;
  #bytes = 0;
  /** What is left to read once the head is full, for the screen and for the tail. */
  #later: { readonly shown: LatestOutput; readonly tail: LatestOutput } | null = null;
  #isAtEnd = false;

  /**
   * Without a folder, nothing is written. `mask` hides secrets before the output is cut: half a secret would not be
   * recognised. The file is not masked.
   */
  constructor(limit: number, spillFolder: string | null, name: string, mask: SecretStream | null = null) {
    this.#limit = limit;
    this.#mask = mask;
    this.#spill = new Spill(spillFolder, name);
  }

  /** Adds a chunk and returns it for the screen. */
  take(chunk: Buffer): string | DeferredOutput {
    this.#bytes += chunk.length;
    if (this.#spill.isOpen) this.#spill.write(chunk);
    else this.#raw.push(chunk);
    if (this.#later !== null) {
      const counted = countBytes(chunk);
      this.#later.tail.add(counted);
      this.#later.shown.add(counted);
      return this.#later.shown;
    }
    const text = this.#masked(this.#decoder.write(chunk));
    this.#keep(text);
    if (this.#characters > this.#limit) this.#goOnLater(chunk);
    return text;
  }

  /** From now on most output is left out, and is neither decoded nor masked. */
  #goOnLater(chunk: Buffer): void {
    this.#startSpill();
    // The decoder may wait for the rest of a character.
    if ((chunk.at(-1) ?? 0) >= 0x80) return;
    this.#later = {
      shown: new LatestOutput(SHOWN_BYTES, this.#mask),
      tail: new LatestOutput(TAIL_BYTES * this.#limit, this.#mask?.copy() ?? null),
    };
  }

  #keep(text: string): void {
    this.#characters += text.length;
    const room = this.#limit - this.#head.length;
    if (room > 0) this.#head += text.slice(0, room);
    if (text.length > room) this.#tail = (this.#tail + text.slice(Math.max(room, 0))).slice(-this.#limit);
  }

  #startSpill(): void {
    if (this.#raw.length === 0) return;
    for (const chunk of this.#raw) this.#spill.write(chunk);
    this.#raw = [];
  }

  /** Ends the stream; may be called more than once. Returns the rest for the screen. */
  rest(): string | DeferredOutput {
    if (this.#isAtEnd) return '';
    this.#isAtEnd = true;
    if (this.#later !== null) return this.#readLater(this.#later);
    const text = this.#masked(this.#decoder.end()) + (this.#mask?.end() ?? '');
    this.#keep(text);
    return text;
  }

  #readLater({ shown, tail }: { readonly shown: LatestOutput; readonly tail: LatestOutput }): DeferredOutput {
    tail.end();
    shown.end();
    const { text, leftOut } = tail.read();
    if (leftOut > 0) {
      this.#characters += leftOut;
      this.#tail = '';
      this.#tailHasGap = true;
    }
    this.#keep(text);
    return shown;
  }

  /** The total number of characters. */
  get characters(): number {
    return this.#characters;
  }

  #masked(text: string): string {
    return this.#mask === null ? text : this.#mask.push(text);
  }

  /** Head and tail in `room` characters, with a line between them that says how much is missing and where it is. */
  finish(room: number): LimitedOutput {
    this.rest();
    const kept = this.#head + this.#tail;
    const binary = looksBinary(kept);
    if (!binary && this.#characters <= room) {
      this.#spill.discard();
      return { text: cleaned(kept), truncated: false, file: null };
    }
    this.#startSpill();
    const file = this.#spill.finish();
    const where =
      file === null ? 'It could not be saved.' : `${this.#spill.isWhole ? 'All' : 'Its start'} is in ${file}`;
    if (binary) return { text: `(binary output, ${this.#bytes} bytes, not shown. ${where})`, truncated: true, file };
    const half = Math.floor(room / 2);
    const head = firstCharacters(kept, half);
    // Until the tail is full, it directly follows the head: the end of both together is the end of the output.
    const tail = lastCharacters(this.#tailHasGap ? this.#tail : kept, room - half);
    const missing = this.#characters - head.length - tail.length;
    const gap = `\n[… ${missing} of ${this.#characters} characters left out. ${where} …]\n`;
    // Sanitised separately: a truncated escape sequence must not swallow the line between them.
    return { text: cleaned(head) + gap + cleaned(tail), truncated: true, file };
  }
}

function looksBinary(text: string): boolean {
  const odd = text.match(/[\u0000-\u0006\u000e-\u001a\u001c-\u001f\ufffd]/g)?.length ?? 0;
  return odd > text.length / 10;
}

/** Removes colours and cursor movements, and makes other control characters visible. */
function cleaned(text: string): string {
  return stripVTControlCharacters(text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, (control) =>
    String.fromCharCode(0x2400 + control.charCodeAt(0)),
  );
}

/** How many bytes of UTF-8 one UTF-16 unit takes at most. */
const MOST_BYTES = 3;

/**
 * The latest bytes of an output, in bounded memory. They are decoded and masked when they are read, as most of a long
 * output never is. Of what is left out, the end is kept too: a secret may begin in it.
 */
export class LatestOutput implements DeferredOutput {
  readonly #kept: number;
  readonly #before: number;
  readonly #mask: SecretStream | null;
  #decoder = new StringDecoder('utf8');
  #pieces: CountedBytes[] = [];
  #bytes = 0;
  #leftOut = 0;
  #leftOutLines = 0;
  #hasGap = false;
  #isAtEnd = false;

  /** At least the last `kept` bytes are read. `mask` goes on after what it was given before. */
  constructor(kept: number, mask: SecretStream | null) {
    this.#kept = kept;
    this.#mask = mask;
    this.#before = MOST_BYTES * (mask?.reach ?? 0);
  }

  add(piece: CountedBytes): void {
    this.#pieces.push(piece);
    this.#bytes += piece.bytes.length;
    for (const { characters, lines } of this.#takeAllBut(this.#kept + this.#before)) {
      this.#leftOut += characters;
      this.#leftOutLines += lines;
      this.#hasGap = true;
    }
  }

  /** The first pieces, as long as this many bytes remain. */
  #takeAllBut(remaining: number): readonly CountedBytes[] {
    let count = 0;
    for (const { bytes } of this.#pieces) {
      if (this.#bytes - bytes.length < remaining) break;
      this.#bytes -= bytes.length;
      count += 1;
    }
    return count === 0 ? [] : this.#pieces.splice(0, count);
  }

  /** No more comes: `read` gives what was held back as well. */
  end(): void {
    this.#isAtEnd = true;
  }

  read(): ReadOutput {
    if (this.#hasGap) this.#goOnAfterGap();
    const bytes = this.#decoder.write(joined(this.#pieces));
    const text = this.#isAtEnd ? bytes + this.#decoder.end() : bytes;
    const shown = this.#mask === null ? text : this.#mask.push(text) + (this.#isAtEnd ? this.#mask.end() : '');
    const read = { text: shown, leftOut: this.#leftOut, leftOutLines: this.#leftOutLines };
    this.#pieces = [];
    this.#bytes = this.#leftOut = this.#leftOutLines = 0;
    this.#hasGap = false;
    return read;
  }

  /** Leaves out all but the last pieces. */
  #goOnAfterGap(): void {
    this.#decoder = new StringDecoder('utf8');
    const text = this.#decoder.write(joined(this.#takeAllBut(this.#kept)));
    const leftOut = this.#mask === null ? text : this.#mask.goOnAfter(text);
    this.#leftOut += leftOut.length;
    this.#leftOutLines += newlinesIn(leftOut);
  }
}

const joined = (pieces: readonly CountedBytes[]): Buffer => Buffer.concat(pieces.map(({ bytes }) => bytes));

/** A piece of output, with its counts. */
interface CountedBytes {
  readonly bytes: Buffer;
  /** The number of UTF-16 units after decoding from UTF-8; an estimate if it is not UTF-8. */
  readonly characters: number;
  /** The number of newlines. */
  readonly lines: number;
}

const FIRST_BITS = ~0x7f7f7f7f;
const OTHER_BITS = 0x7f7f7f7f;
const LAST_BITS = 0x01010101;
const NEWLINE = 0x0a;
const NEWLINES = 0x0a0a0a0a;

/** Counts four bytes at a time: a decoded gigabyte would take ten times as long. */
export function countBytes(bytes: Buffer): CountedBytes {
  let characters = bytes.length;
  let lines = 0;
  const words = wordsOf(bytes);
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? 0;
    const other = word ^ NEWLINES;
    // The first bit of each byte that is zero, that is, was a newline.
    const zero = ~(((other & OTHER_BITS) + OTHER_BITS) | other | OTHER_BITS);
    if (zero !== 0) lines += bitsIn(zero >>> 7);
    if ((word & FIRST_BITS) !== 0) characters += beyondBytes(word);
  }
  for (const byte of bytes.subarray(words.length * 4)) {
    if (byte === NEWLINE) lines += 1;
    else if (byte >= 0x80) characters += beyondBytes(byte);
  }
  return { bytes, characters, lines };
}

/** Bytes that continue a character do not count, and the first of four counts as two: a surrogate pair. */
const beyondBytes = (word: number): number =>
  bitsIn((word >>> 7) & (word >>> 6) & (word >>> 5) & (word >>> 4)) - bitsIn((word >>> 7) & ~(word >>> 6));

/** All bytes but the last few, four in a number; none where they do not begin at a whole number. */
function wordsOf(bytes: Buffer): Int32Array {
  const isAligned = bytes.byteOffset % 4 === 0;
  return new Int32Array(bytes.buffer, isAligned ? bytes.byteOffset : 0, isAligned ? bytes.length >>> 2 : 0);
}

/** How many of the last bits of the four bytes are set. */
const bitsIn = (word: number): number => Math.imul(word & LAST_BITS, LAST_BITS) >>> 24;

/** The folder for full outputs; null while nothing is kept. */
export const spillFolderOf = ({ spillFolder, isKept }: Pick<ToolContext, 'spillFolder' | 'isKept'>): string | null =>
  isKept?.() === false ? null : spillFolder;

/**
 * Limits a complete text like a command's output: head and tail for the model, the whole text in a file, without
 * control sequences.
 */
export function fitText(
  text: string,
  limit: number,
  context: Pick<ToolContext, 'spillFolder' | 'isKept'>,
  mask: (text: string) => string,
): string {
  const keeper = new OutputKeeper(limit, spillFolderOf(context), `${outputName()}.stdout`);
  keeper.take(Buffer.from(mask(text)));
  return keeper.finish(limit).text;
}
