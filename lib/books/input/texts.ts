import { type Reading, type SourceFile, Unreadable } from '../common/book-source.js';
import { asUtf8 } from './objects.js';

/** The longest text that is read as a whole, in bytes. */
const LONGEST = 32 * 1024 * 1024;

/** The text of a whole file; null, which is reported, for one that is too long or cannot be read. */
export async function textOf(file: SourceFile, reading: Pick<Reading, 'problem'>): Promise<string | null> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of asUtf8(file.bytes())) {
      pieces.push(piece);
      size += piece.length;
      if (size > LONGEST) throw new Unreadable('too long');
    }
    return new TextDecoder().decode(Buffer.concat(pieces));
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown;
    reading.problem(file, `byte ${size}`, thrown.message);
    return null;
  }
}
