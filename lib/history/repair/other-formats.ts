import { gunzipSync } from 'node:zlib';
import { DATA_MAGIC, type ReadBytes } from '../file/frames.js';
import { inUtf8, type ScannedFrame } from './scan-frames.js';

/** A file that is not zstd. */
export interface OtherFormat {
  /** Its name. */
  readonly format: string;
  /** Its text, empty when hi cannot read the format. */
  readonly content: Buffer;
  readonly frames: readonly ScannedFrame[];
}

/** The first bytes of other formats. */
const MAGIC_NUMBERS: readonly (readonly [format: string, bytes: readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['xz', [0xfd, 0x37, 0x7a, 0x58]],
  ['bzip2', [0x42, 0x5a, 0x68]],
  ['a zip archive', [0x50, 0x4b, 0x03, 0x04]],
  ['lz4', [0x04, 0x22, 0x4d, 0x18]],
  ['UTF-16', [0xff, 0xfe]],
  ['UTF-16', [0xfe, 0xff]],
  ['UTF-16', [0x5b, 0x00]],
  ['UTF-16', [0x00, 0x5b]],
  ['plain JSON', [0xef, 0xbb, 0xbf]],
];

/** The format and the content of a file that does not begin with zstd; null when it may be zstd or is of an unknown format. */
export function readOtherFormat(read: ReadBytes, size: number): OtherFormat | null {
  const start = read(0, 64);
  const dictionary = dictionaryOf(start);
  if (dictionary !== null)
    return { format: `zstd with the dictionary ${dictionary}`, content: Buffer.alloc(0), frames: [] };
  const known = MAGIC_NUMBERS.find(([, bytes]) => bytes.every((byte, at) => start[at] === byte))?.[0];
  const format = known ?? (/^\s*[[{]/.test(start.toString('latin1')) ? 'plain JSON' : null);
  if (format === null) return null;
  const { content, isVerified } = contentOf(format, read(0, size));
  const found = { content, isIntact: true, isVerified, isComplete: true, intactLength: 0, next: size };
  return {
    format,
    content,
    frames: [{ kind: 'data', at: 0, found, follows: true, isStale: false, isJoinedText: false }],
  };
}

function contentOf(format: string, bytes: Buffer): { readonly content: Buffer; readonly isVerified: boolean } {
  if (format === 'UTF-16') return { content: inUtf8(bytes), isVerified: false };
  if (format === 'plain JSON') return { content: Buffer.from(bytes), isVerified: false };
  if (format !== 'gzip') return { content: Buffer.alloc(0), isVerified: false };
  try {
    return { content: gunzipSync(bytes), isVerified: true };
  } catch {
    return { content: Buffer.alloc(0), isVerified: false };
  }
}

/** The number of the dictionary that a zstd frame needs, null for none. */
function dictionaryOf(start: Buffer): number | null {
  if (start.length < 18 || start.readUInt32LE(0) !== DATA_MAGIC) return null;
  const descriptor = start.readUInt8(4);
  const length = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const at = 5 + ((descriptor & 0x20) === 0 ? 1 : 0);
  return length === 0 ? null : start.readUIntLE(at, length);
}
