import { StringDecoder } from 'node:string_decoder';
import { newlinesIn } from '../../chat/text.js';
import type { SecretStream } from '../../permission/secret-stream.js';
import type { DeferredOutput, ReadOutput } from '../common/tool.js';
import type { CountedBytes } from './count-bytes.js';

/** How many bytes of UTF-8 one UTF-16 unit takes at most. */
const MOST_BYTES = 3;

/**
 * The latest bytes of an output, in bounded memory. They are decoded and masked when they are read, as most of a long output never is. Of what
 * is left out, the end is kept too: a secret may begin in it.
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
