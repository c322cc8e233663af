import { isUtf8 } from 'node:buffer';
import type { ReadBytes } from '../file/frames/frame-headers.js';
import type { RecoveredFrame } from '../file/frames/recover-frame.js';
import { GZIP_START, gunzipStart } from './gzip.js';
import { nextFrameStart } from './next-frame.js';
import { inUtf8 } from './utf16.js';

/**
 * The content of a part of the file that is not in zstd: JSON text, or gzip of it, that was joined to a history. Null where anything else begins,
 * such as damage.
 */
export function joinedTextAt(read: ReadBytes, at: number, size: number): RecoveredFrame | null {
  const isGzip = read(at, GZIP_START.length).equals(GZIP_START);
  const found = isGzip ? gunzipStart(read(at, size - at)) : textBefore(read(at, nextFrameStart(read, at, size) - at));
  if (found === null || !startsAsJson(found.content)) return null;
  // If this is the whole file, nothing was joined.
  if (found.size === size) return null;
  const { content } = found;
  return { content, isIntact: true, isVerified: isGzip, isComplete: true, intactLength: 0, next: at + found.size };
}

/** The bytes as text, up to the next gzip member. */
function textBefore(bytes: Buffer): { readonly content: Buffer; readonly size: number } | null {
  const gzip = bytes.indexOf(GZIP_START);
  const part = gzip < 0 ? bytes : bytes.subarray(0, gzip);
  const isUtf16 = part[0] === 0xff ? part[1] === 0xfe : part[0] === 0xfe && part[1] === 0xff;
  if (isUtf16) return { content: inUtf8(part), size: part.length };
  return startsAsJson(part) && isUtf8(part) ? { content: part, size: part.length } : null;
}

function startsAsJson(content: Buffer): boolean {
  return /^(?:\xef\xbb\xbf)?\s*[[{]/.test(content.toString('latin1', 0, 256));
}
