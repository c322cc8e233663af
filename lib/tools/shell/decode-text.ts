import { fileFormat } from '../../chat/media.js';
import { likelyEncoding } from './chardet.js';

/** The encoding of a file. For a binary file, `what` names its format; `mark` is the length of a byte order mark. */
export type Encoding =
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
