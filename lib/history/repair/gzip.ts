import { inflateRawSync } from 'node:zlib';
import { crc32 } from '../file/checksums.js';

/** How every gzip member begins, RFC 1952 section 2.3.1: the magic number and the method deflate. */
export const GZIP_START = Buffer.from([0x1f, 0x8b, 0x08]);

const FIXED_HEADER = 10;
const TRAILER = 8;

/** The joined content of the members of a gzip file, and their size in bytes. */
export interface Gunzipped {
  readonly content: Buffer;
  readonly size: number;
}

/** Decompresses the gzip members at the beginning of `bytes`, whatever follows them, which `gunzipSync` refuses. Null if one of them is damaged. */
export function gunzipStart(bytes: Buffer): Gunzipped | null {
  const contents: Buffer[] = [];
  let size = 0;
  while (bytes.subarray(size, size + GZIP_START.length).equals(GZIP_START)) {
    const member = firstMember(bytes.subarray(size));
    if (member === null) return null;
    contents.push(member.content);
    size += member.size;
  }
  return size === 0 ? null : { content: Buffer.concat(contents), size };
}

function firstMember(bytes: Buffer): Gunzipped | null {
  const start = headerSize(bytes);
  const inflated = inflate(bytes.subarray(start));
  if (inflated === null) return null;
  const { content } = inflated;
  const trailer = bytes.subarray(start + inflated.size, start + inflated.size + TRAILER);
  if (trailer.length < TRAILER || trailer.readUInt32LE(0) !== crc32(content)) return null;
  return trailer.readUInt32LE(4) === content.length % 2 ** 32
    ? { content, size: start + inflated.size + TRAILER }
    : null;
}

/** The size of the header: extra fields, a name, a comment and a checksum may follow the fixed part. */
function headerSize(bytes: Buffer): number {
  const flags = bytes[3] ?? 0;
  let at = FIXED_HEADER;
  if ((flags & 0x04) !== 0) at += 2 + (bytes[at] ?? 0) + 256 * (bytes[at + 1] ?? 0);
  for (const text of [0x08, 0x10]) if ((flags & text) !== 0) at = bytes.indexOf(0, at) + 1;
  return (flags & 0x02) !== 0 ? at + 2 : at;
}

/** The result of `inflateRawSync` with the number of bytes read, which is missing from its types. */
interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

function isInflated(value: object): value is Inflated {
  return 'buffer' in value && 'engine' in value;
}

function inflate(bytes: Buffer): Gunzipped | null {
  try {
    const inflated: object = inflateRawSync(bytes, { info: true });
    return isInflated(inflated) ? { content: inflated.buffer, size: inflated.engine.bytesWritten } : null;
  } catch {
    return null;
  }
}
