import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { firstCharacters, lastCharacters } from '../../chat/text/cut-text.js';
import { makeFolder } from '../../folder.js';
import type { SecretStream } from '../../permission/secret-stream.js';

/** The most bytes of output kept on disk: a command that prints endlessly must not fill it. */
const MAX_SPILL_BYTES = 1024 ** 3;

/** Output files are meant for the current turn and a little longer. */
const MAX_SPILL_AGE = 7 * 24 * 60 * 60 * 1000;

/** A unique file name for the output of one command, without the stream's extension. */
export function outputName(): string {
  return `${new Date().toISOString().replace(/[:.]/g, '-')}-${randomBytes(3).toString('hex')}`;
}

/** Matches exactly the names made by `outputName`, followed by `.stdout`, `.stderr`, or the ending of a file that a tool gave back. */
export const OUTPUTS = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-[0-9a-f]{6}\.(?:stdout|stderr|[a-z0-9]{1,5})$/;

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
  #characters = 0;
  #bytes = 0;

  /** Without a folder nothing is written. `mask` hides secrets before the output is cut: half of one would not be recognised. The file keeps the output as it is. */
  constructor(limit: number, spillFolder: string | null, name: string, mask: SecretStream | null = null) {
    this.#limit = limit;
    this.#mask = mask;
    this.#spill = new Spill(spillFolder, name);
  }

  /** Adds a chunk and returns it as text. */
  take(chunk: Buffer): string {
    this.#bytes += chunk.length;
    if (this.#spill.isOpen) this.#spill.write(chunk);
    else this.#raw.push(chunk);
    const text = this.#masked(this.#decoder.write(chunk));
    this.#keep(text);
    if (this.#characters > this.#limit) this.#startSpill();
    return text;
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

  /** Ends the stream; may be called more than once. Returns the text that waited for more. */
  rest(): string {
    const text = this.#masked(this.#decoder.end()) + (this.#mask?.end() ?? '');
    this.#keep(text);
    return text;
  }

  /** The total number of characters. */
  get characters(): number {
    return this.#characters;
  }

  #masked(text: string): string {
    return this.#mask === null ? text : this.#mask.push(text);
  }

  /** Head and tail in `room` characters, with a line between them that says how much is missing and which file has it. */
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
      file === null ? 'It could not be saved.' : `${this.#spill.isWhole ? 'All' : 'Its beginning'} is in ${file}`;
    if (binary) return { text: `(binary output, ${this.#bytes} bytes, not shown. ${where})`, truncated: true, file };
    const half = Math.floor(room / 2);
    const head = firstCharacters(kept, half);
    // Until the tail is full, it directly follows the head: the end of both together is the end of the output.
    const tail = lastCharacters(kept, room - half);
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

/** A file that is created by the first write. */
class Spill {
  readonly #folder: string;
  readonly #path: string;
  #descriptor: number | null = null;
  #written = 0;
  #isWhole = true;
  #failed: boolean;

  constructor(folder: string | null, name: string) {
    this.#folder = folder ?? '';
    this.#path = join(this.#folder, name);
    this.#failed = folder === null;
  }

  get isOpen(): boolean {
    return this.#descriptor !== null || this.#failed;
  }

  get isWhole(): boolean {
    return this.#isWhole;
  }

  // Synchronous, so that a slow disk slows down the child process instead of filling the memory.
  write(chunk: Buffer): void {
    if (this.#failed) return;
    if (this.#written + chunk.length > MAX_SPILL_BYTES) {
      this.#isWhole = false;
      return;
    }
    try {
      this.#descriptor ??= this.#create();
      writeSync(this.#descriptor, chunk);
      this.#written += chunk.length;
    } catch {
      this.#failed = true;
      this.discard();
    }
  }

  #create(): number {
    makeFolder(this.#folder, 0o700);
    removeOld(this.#folder);
    return openSync(this.#path, 'wx', 0o600);
  }

  finish(): string | null {
    if (this.#descriptor === null) return null;
    closeSync(this.#descriptor);
    this.#descriptor = null;
    return this.#path;
  }

  discard(): void {
    if (this.finish() !== null) rmSync(this.#path, { force: true });
  }
}

function removeOld(folder: string): void {
  const oldest = Date.now() - MAX_SPILL_AGE;
  for (const name of readdirSync(folder)) {
    if (!OUTPUTS.test(name)) continue;
    const path = join(folder, name);
    // Another process of hi may have removed it meanwhile.
    if ((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? oldest) < oldest) rmSync(path, { force: true });
  }
}
