import type { Codec } from './codec.js';
import {
  type Block,
  blocksAt,
  DATA_MAGIC,
  frameAt,
  frameHeaderAt,
  MAX_BLOCK_SIZE,
  type ReadBytes,
} from './frame-headers.js';

/** The recoverable part of a frame. */
export interface RecoveredFrame {
  readonly content: Buffer;
  /** The frame decompresses to its last byte. */
  readonly isIntact: boolean;
  /** It is intact, and a checksum confirms it. */
  readonly isVerified: boolean;
  /** All its blocks decompress. If it is not intact, some of them have wrong content. */
  readonly isComplete: boolean;
  /** The length of the content that is certainly correct, in a frame at the end of a cut-off file; 0 for other frames. */
  readonly intactLength: number;
  /** Where to look for the next frame. */
  readonly next: number;
}

/** Decompresses as much as possible of the data frame at `offset`; null for nothing. Its checksum and its end may be missing. */
export function recoverFrame(codec: Codec, read: ReadBytes, offset: number, size: number): RecoveredFrame | null {
  const head = frameHeaderAt(read, offset);
  if (head === null) return null;
  const frame = frameAt(read, offset, size);
  const whole = frame && tryDecompress(codec, read(offset, frame.size), frame.content, frame.exact);
  if (frame && whole) {
    const isVerified = head.checksum > 0;
    return {
      content: whole,
      isIntact: true,
      isVerified,
      isComplete: true,
      intactLength: 0,
      next: offset + frame.size,
    };
  }
  const blocks = [...blocksAt(read, head.blocks, size)];
  const { count, content } = decompressMostBlocks(codec, read, blocks);
  if (content.length === 0) return null;
  const isComplete = count === blocks.length && blocks.at(-1)?.last === true;
  const rest = size - (blocks.at(-1)?.end ?? head.blocks);
  const isCut = count === blocks.length && !isComplete && rest < MAX_BLOCK_SIZE;
  const intactLength = isCut ? intactLengthOf(codec, read, blocks, content) : 0;
  return { content, isIntact: false, isVerified: false, isComplete, intactLength, next: head.blocks };
}

/**
 * The length of the content that is certainly correct in a frame at the end of the file. A block of the full size is correct: a damaged block header that
 * looks like the end of the file would hardly leave the block before it with exactly that size.
 */
function intactLengthOf(codec: Codec, read: ReadBytes, blocks: readonly Block[], content: Buffer): number {
  if (content.length === blocks.length * MAX_BLOCK_SIZE) return content.length;
  return decompressBlocks(codec, read, blocks.slice(0, -1))?.length ?? 0;
}

/** The content of the first blocks up to the first bad one: a block depends on those before it. */
function decompressMostBlocks(
  codec: Codec,
  read: ReadBytes,
  blocks: readonly Block[],
): { readonly count: number; readonly content: Buffer } {
  let best: { readonly count: number; readonly content: Buffer } = { count: 0, content: Buffer.alloc(0) };
  for (let [low, high] = [1, blocks.length]; low <= high; ) {
    const count = (low + high) >>> 1;
    const content = decompressBlocks(codec, read, blocks.slice(0, count));
    if (content) {
      best = { count, content };
      low = count + 1;
    } else {
      high = count - 1;
    }
  }
  return best;
}

/** Decompresses blocks as a separate frame: without size and checksum, with the largest window, 128 MiB (RFC 8878 section 3.1.1.1.2). */
function decompressBlocks(codec: Codec, read: ReadBytes, blocks: readonly Block[]): Buffer | null {
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (first === undefined || last === undefined) return null;
  const header = Buffer.from([0, 0, 0, 0, 0, (27 - 10) << 3]);
  header.writeUInt32LE(DATA_MAGIC, 0);
  const bytes = Buffer.concat([header, read(first.offset, last.end - first.offset)]);
  const flag = header.length + last.offset - first.offset;
  bytes.writeUInt8(bytes.readUInt8(flag) | 1, flag);
  const limit = blocks.reduce((sum, { content }) => sum + content, 0);
  return tryDecompress(codec, bytes, limit, false);
}

function tryDecompress(codec: Codec, bytes: Buffer, content: number, exact: boolean): Buffer | null {
  try {
    return codec.decompress(bytes, { content, exact });
  } catch {
    return null;
  }
}
