/** A frame according to its headers, without decompressing it. */
export interface Frame {
  readonly kind: 'data' | 'skip';
  readonly magic: number;
  readonly offset: number;
  /** All bytes of the frame, headers included. */
  readonly size: number;
  /** The decompressed size of a data frame, an upper bound unless `exact`; 0 for a skippable frame. */
  readonly content: number;
  readonly exact: boolean;
}

/** Bytes at an offset; fewer than asked for only at the end. */
export type ReadBytes = (offset: number, length: number) => Buffer;

/** The first four bytes of a data frame, RFC 8878 section 3.1.1. */
export const DATA_MAGIC = 0xfd2fb528;

/** The largest block a frame may have, RFC 8878 section 3.1.1.2.4. */
export const MAX_BLOCK_SIZE = 128 * 1024;

/** The longest header of a data frame: magic, descriptor, window, dictionary id, content size. */
const MAX_HEADER_SIZE = 4 + 1 + 1 + 4 + 8;

/**
 * The complete frame at `offset`, null when there is none. Reads headers only: the frame may still be damaged inside.
 */
export function frameAt(read: ReadBytes, offset: number, end: number): Frame | null {
  const start = read(offset, 8);
  if (start.length < 8) return null;
  const magic = start.readUInt32LE(0);
  if (magic === DATA_MAGIC) return dataFrame(read, offset, end);
  if (magic >>> 4 !== 0x184d2a5) return null;
  const size = 8 + start.readUInt32LE(4);
  return offset + size > end ? null : { kind: 'skip', magic, offset, size, content: 0, exact: true };
}

function dataFrame(read: ReadBytes, offset: number, end: number): Frame | null {
  const head = frameHeaderAt(read, offset);
  if (head === null) return null;
  let limit = 0;
  for (const block of blocksAt(read, head.blocks, end - head.checksum)) {
    limit += block.content;
    if (!block.last) continue;
    // A damaged header may claim any size. One that the blocks cannot contain is wrong.
    if (head.contentSize !== null && head.contentSize > limit) return null;
    const size = block.end + head.checksum - offset;
    return {
      kind: 'data',
      magic: DATA_MAGIC,
      offset,
      size,
      content: head.contentSize ?? limit,
      exact: head.contentSize !== null,
    };
  }
  return null;
}

/** The header of a data frame. */
interface FrameHeader {
  /** Where the first block begins. */
  readonly blocks: number;
  /** How many bytes of checksum follow the last block. */
  readonly checksum: number;
  /** The size of the content, null when the header does not give it. */
  readonly contentSize: number | null;
}

/** The header of the data frame at `offset`, null when there is none. */
export function frameHeaderAt(read: ReadBytes, offset: number): FrameHeader | null {
  const head = read(offset, MAX_HEADER_SIZE);
  if (head.length < 6 || head.readUInt32LE(0) !== DATA_MAGIC) return null;
  const descriptor = head.readUInt8(4);
  const single = (descriptor & 0x20) !== 0;
  const reserved = (descriptor & 0x08) !== 0;
  const bytes = [single ? 1 : 0, 2, 4, 8][descriptor >>> 6] ?? 0;
  const at = 5 + (single ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] ?? 0);
  if (reserved || head.length < at + bytes) return null;
  return {
    blocks: offset + at + bytes,
    checksum: (descriptor & 0x04) !== 0 ? 4 : 0,
    contentSize: contentSize(head, at, bytes),
  };
}

/** One block of a frame. */
export interface Block {
  readonly offset: number;
  readonly end: number;
  /** The maximum decompressed size. */
  readonly content: number;
  readonly last: boolean;
}

/** The blocks from `offset`, up to the last one or the first incomplete one. */
export function* blocksAt(read: ReadBytes, offset: number, end: number): Generator<Block> {
  for (let at = offset; at + 3 <= end; ) {
    const bytes = read(at, 3);
    // Another process may have cut off the space at the end since `end` was known.
    if (bytes.length < 3) return;
    const head = bytes.readUIntLE(0, 3);
    const kind = (head >>> 1) & 3;
    const size = head >>> 3;
    const next = at + 3 + (kind === 1 ? 1 : size);
    if (kind === 3 || size > MAX_BLOCK_SIZE || next > end) return;
    const last = (head & 1) === 1;
    yield { offset: at, end: next, content: kind === 2 ? MAX_BLOCK_SIZE : size, last };
    if (last) return;
    at = next;
  }
}

function contentSize(head: Buffer, at: number, bytes: number): number | null {
  switch (bytes) {
    case 0:
      return null;
    case 1:
      return head.readUInt8(at);
    case 2:
      return head.readUInt16LE(at) + 256;
    case 4:
      return head.readUInt32LE(at);
    default:
      return Number(head.readBigUInt64LE(at));
  }
}

/** The offset of the frame header descriptor, after the magic number, and its checksum bit (RFC 8878, 3.1.1.1). */
const DESCRIPTOR = 4;
const HAS_CHECKSUM = 0b100;

/** Adds a checksum to a frame without one. `hash` is the XXH64 of its content. */
export function withChecksum(frame: Uint8Array, hash: bigint): Buffer {
  const whole = Buffer.allocUnsafe(frame.length + 4);
  whole.set(frame);
  whole.writeUInt8(whole.readUInt8(DESCRIPTOR) | HAS_CHECKSUM, DESCRIPTOR);
  // The low 32 bits, little-endian (RFC 8878, 3.1.1).
  whole.writeUInt32LE(Number(hash & 0xffffffffn), frame.length);
  return whole;
}

/** The history file is damaged. Never leaves `lib/history`, which repairs the file. */
export class Damaged extends Error {
  override readonly name: string = 'Damaged';
}

/** The history file is one intact array, but some of its elements lack fields or are out of order. */
export class Unordered extends Damaged {
  override readonly name = 'Unordered';
}
