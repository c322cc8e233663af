import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { textBlock } from '../chat/marked-text.js';
import { fileFormat, imageSize } from '../chat/media.js';
import type { Part } from '../chat/message.js';
import { makeFolder, writeAside } from '../disk.js';
import { hashOf } from '../history/attachments.js';
import { type AttachedFile, type Reading, type SourceFile, Unreadable } from './common/book-source.js';

/** The largest file that is taken in, in bytes. */
const LARGEST = 64 * 1024 * 1024;

/** The longest text file that becomes part of its message, in bytes. */
const LONGEST_TEXT = 256 * 1024;

/**
 * Stores attached files beside a book, and tells what they are in a message; null for a file that no message can have,
 * which is counted.
 */
export class Attachments {
  readonly #folder: string;
  readonly #reading: Pick<Reading, 'leaveOut' | 'problem'>;
  /** Those that were not there before. */
  readonly added: string[] = [];

  constructor(folder: string, reading: Pick<Reading, 'leaveOut' | 'problem'>) {
    this.#folder = folder;
    this.#reading = reading;
  }

  async part({ file, name }: AttachedFile): Promise<Part | null> {
    const bytes = await this.#bytesOf(file);
    if (bytes === null) return null;
    const { mime = null, isDamaged = false } = fileFormat(bytes) ?? {};
    if (mime !== null && !isDamaged) return this.#stored(bytes, mime, name);
    const text = mime === null && bytes.length <= LONGEST_TEXT ? textIn(bytes) : null;
    if (text !== null) return { type: 'text', text: textBlock('file', { name }, text) };
    this.#reading.leaveOut('files of other kinds');
    return null;
  }

  #stored(bytes: Buffer, mime: string, name: string): Part {
    const sha256 = hashOf(bytes);
    const path = join(this.#folder, sha256);
    if (!existsSync(path)) {
      makeFolder(this.#folder, 0o700);
      writeAside(path, bytes, { mode: 0o600, synced: true });
      this.added.push(path);
    }
    const base = { mime, sha256, bytes: bytes.length, name };
    if (!mime.startsWith('image/')) return { type: 'document', ...base };
    return { type: 'image', ...base, ...imageSize(bytes) };
  }

  async #bytesOf(file: SourceFile): Promise<Buffer | null> {
    try {
      const pieces: Buffer[] = [];
      let size = 0;
      for await (const piece of file.bytes()) {
        pieces.push(piece);
        size += piece.length;
        if (size > LARGEST) break;
      }
      if (size <= LARGEST) return Buffer.concat(pieces);
      this.#reading.problem(file, `byte ${LARGEST}`, 'too large to be attached');
    } catch (thrown) {
      if (!(thrown instanceof Unreadable)) throw thrown;
      this.#reading.problem(file, 'byte 0', thrown.message);
    }
    return null;
  }
}

/** The text of a file in UTF-8; null for anything else. */
function textIn(bytes: Buffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}
