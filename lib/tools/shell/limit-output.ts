import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { firstCharacters, lastCharacters } from '../../chat/text.js';
import type { SecretStream } from '../../permission/secret-stream.js';
import type { DeferredOutput } from '../common/tool.js';
import { countBytes } from './count-bytes.js';
import { LatestOutput } from './latest-output.js';
import { Spill } from './spill.js';

/** How many bytes of output that is too fast the screen gets at once. */
const SHOWN_BYTES = 32 * 1024;

/** The bytes kept for each character of the tail: most characters take one, and a mask may be shorter than its secret. */
const TAIL_BYTES = 4;

/** One output stream, as the model gets it. */
export interface LimitedOutput {
  readonly text: string;
  readonly truncated: boolean;
  /** The file with the full output, if `text` is truncated. */
  readonly file: string | null;
}

/**
 * Keeps the head and the tail of an output stream of any length in bounded memory; output that exceeds the limit is written to a file
 * in full. A failed write is not an error: then only head and tail remain.
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

  /** Without a folder, nothing is written. `mask` hides secrets before the output is cut: half a secret would not be recognised. The file is not masked. */
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
