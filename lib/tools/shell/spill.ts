import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileFormat } from '../../chat/media.js';
import { makeFolder } from '../../disk.js';
import { likelyEncoding } from './chardet.js';

/** How many bytes of output are kept on disk. A command that prints endlessly must not fill it. */
const MAX_SPILL_BYTES = 1024 ** 3;

/** Output files are for the current turn and a while after it. */
const MAX_SPILL_AGE = 7 * 24 * 60 * 60 * 1000;

/** A file that the first write creates. */
export class Spill {
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

/** A unique file name for the output of one command, without the stream's extension. */
export function outputName(): string {
  return `${new Date().toISOString().replace(/[:.]/g, '-')}-${randomBytes(3).toString('hex')}`;
}

/**
 * Matches exactly the names made by `outputName`, followed by `.stdout`, `.stderr`, or the ending of a file that a tool
 * gave back.
 */
export const OUTPUTS = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-[0-9a-f]{6}\.(?:stdout|stderr|[a-z0-9]{1,5})$/;

/** The encoding of a file. For a binary file, `what` names its format; `mark` is the length of a byte order mark. */
type Encoding =
  | { readonly kind: 'text'; readonly name: string; readonly mark: number }
  | { readonly kind: 'binary'; readonly what: string };

/**
 * Detects the encoding of a file from its first bytes: by a byte order mark, then by valid UTF-8, then by letter
 * frequencies. `whole` is false when the sample may end inside a character.
 */
export async function detectEncoding(sample: Uint8Array, whole: boolean): Promise<Encoding> {
  const bytes = Buffer.from(sample.buffer, sample.byteOffset, sample.byteLength);
  const start = bytes.toString('hex', 0, 3);
  if (start.startsWith('efbbbf')) return { kind: 'text', name: 'utf-8', mark: 3 };
  if (start.startsWith('fffe')) return { kind: 'text', name: 'utf-16le', mark: 2 };
  if (start.startsWith('feff')) return { kind: 'text', name: 'utf-16be', mark: 2 };
  const format = fileFormat(bytes);
  if (format !== null) return { kind: 'binary', what: format.name };
  if (bytes.includes(0)) return { kind: 'binary', what: 'binary file' };
  if (isUtf8(bytes, whole)) return { kind: 'text', name: 'utf-8', mark: 0 };
  return guess(bytes);
}

function isUtf8(bytes: Uint8Array, whole: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !whole });
    return true;
  } catch {
    return false;
  }
}

function guess(bytes: Uint8Array): Encoding {
  const control = bytes.filter((byte) => byte < 9 || (byte > 13 && byte < 27) || (byte > 27 && byte < 32)).length;
  if (control > bytes.length / 50) return { kind: 'binary', what: 'binary file' };
  return { kind: 'text', name: knownName(likelyEncoding(bytes) ?? 'windows-1252'), mark: 0 };
}

/** The name of the decoder for an encoding: ASCII is decoded as Windows-1252, its usual superset. */
function knownName(name: string): string {
  try {
    return new TextDecoder(name).encoding;
  } catch {
    return 'windows-1252';
  }
}
