import { isUtf8 } from 'node:buffer';
import type { Codec } from '../file/codec.js';
import {
  type Block,
  blocksAt,
  DATA_MAGIC,
  frameAt,
  frameHeaderAt,
  MAX_BLOCK_SIZE,
  type ReadBytes,
} from '../file/frames.js';
import { BRACKET_SIZE, CLOSING, OPENING, RECORD_MAGIC, type RecordBody, readRecord } from '../file/layout.js';

/** A frame that was found in a file that may be damaged anywhere. */
export type ScannedFrame =
  | { readonly kind: 'opening' }
  | { readonly kind: 'closing' }
  | { readonly kind: 'record'; readonly body: RecordBody }
  | {
      readonly kind: 'data';
      readonly at: number;
      readonly found: RecoveredFrame;
      /** Nothing unreadable lies between it and the frame before it. */
      readonly follows: boolean;
      /** It is in unused space, which contains older copies. */
      readonly isStale: boolean;
      /** It is not a frame but another file, of text, that was joined to this one. */
      readonly isJoinedText: boolean;
    };

/**
 * Every readable frame in file order, including those in unused space. Skips unreadable parts up to the next possible
 * start of a frame.
 */
export function* scanFrames(codec: Codec, read: ReadBytes, size: number): Generator<ScannedFrame> {
  let follows = true;
  let at = 0;
  if (isAlmostOpening(read(0, BRACKET_SIZE))) {
    yield { kind: 'opening' };
    at = BRACKET_SIZE;
  }
  while (at < size) {
    const frame = frameAt(read, at, size);
    if (frame?.kind === 'skip') {
      const body = frame.magic === RECORD_MAGIC ? readRecord(codec, Buffer.from(read(at, frame.size))) : null;
      const end = at + frame.size;
      const isSkipped = body !== null || isSizeRight(read, end, size);
      if (body) yield { kind: 'record', body };
      else if (isSkipped) yield* scanSkipped(codec, read, at + 8, end);
      at = isSkipped ? end : nextFrameStart(read, at + 8, size);
      continue;
    }
    const text = frame === null ? joinedTextAt(read, at, size) : null;
    if (text) {
      yield { kind: 'data', at, found: text, follows: true, isStale: false, isJoinedText: true };
      follows = true;
      at = text.next;
      continue;
    }
    const bracket = bracketAt(read, at);
    const found = bracket === null ? recoverFrame(codec, read, at, size) : null;
    if (bracket) yield { kind: bracket };
    else if (found) yield { kind: 'data', at, found, follows, isStale: false, isJoinedText: false };
    follows = bracket !== null || found?.isIntact === true;
    if (bracket) at += BRACKET_SIZE;
    else at = found?.isIntact ? found.next : nextFrameStart(read, found?.next ?? at + 1, size);
  }
}

/** Whether a skippable frame may end here. A wrong size ends anywhere, and would hide the frames that it covers. */
function isSizeRight(read: ReadBytes, end: number, size: number): boolean {
  return end === size || nextFrameStart(read, end, Math.min(end + 4, size)) === end || !!joinedTextAt(read, end, size);
}

/** The verified frames inside a skippable one. */
function* scanSkipped(codec: Codec, read: ReadBytes, from: number, end: number): Generator<ScannedFrame> {
  for (let at = nextFrameStart(read, from, end); at < end; ) {
    const found = recoverFrame(codec, read, at, end);
    if (found?.isVerified) yield { kind: 'data', at, found, follows: false, isStale: true, isJoinedText: false };
    at = found?.isVerified ? found.next : nextFrameStart(read, at + 1, end);
  }
}

function bracketAt(read: ReadBytes, at: number): 'opening' | 'closing' | null {
  const bytes = read(at, BRACKET_SIZE);
  if (bytes.equals(OPENING)) return 'opening';
  return bytes.equals(CLOSING) ? 'closing' : null;
}

/** True for the first bytes of a file in hi's layout, even when one or two of them are wrong. */
function isAlmostOpening(bytes: Buffer): boolean {
  return bytes.length === BRACKET_SIZE && OPENING.filter((byte, index) => byte !== bytes[index]).length <= 2;
}

/** The number of bytes searched at once. */
const WINDOW = 1024 * 1024;

/** The first offset from `from` on at which a frame may begin, `end` if there is none. */
export function nextFrameStart(read: ReadBytes, from: number, end: number): number {
  const magic = Buffer.alloc(4);
  magic.writeUInt32LE(DATA_MAGIC);
  for (let start = from; start < end; start += WINDOW) {
    const bytes = read(start, Math.min(WINDOW + magic.length - 1, end - start));
    const data = bytes.indexOf(magic);
    const skip = skippableStart(bytes);
    const first = Math.min(data < 0 ? end : data, skip < 0 ? end : skip);
    if (first < WINDOW) return start + first;
  }
  return end;
}

/** The offset at which a skippable frame may begin: `5? 2A 4D 18`. */
function skippableStart(bytes: Buffer): number {
  const rest = Buffer.from([0x2a, 0x4d, 0x18]);
  for (let at = bytes.indexOf(rest); at >= 0; at = bytes.indexOf(rest, at + 1)) {
    if (at > 0 && ((bytes[at - 1] ?? 0) & 0xf0) === 0x50) return at - 1;
  }
  return -1;
}

/** The recoverable part of a frame. */
export interface RecoveredFrame {
  readonly content: Buffer;
  /** The frame decompresses to its last byte. */
  readonly isIntact: boolean;
  /** It is intact, and a checksum confirms it. */
  readonly isVerified: boolean;
  /** All its blocks decompress. If it is not intact, some of them have wrong content. */
  readonly isComplete: boolean;
  /**
   * The length of the content that is certainly correct, in a frame at the end of a cut-off file; 0 for other frames.
   */
  readonly intactLength: number;
  /** Where to look for the next frame. */
  readonly next: number;
}

/**
 * Decompresses as much as possible of the data frame at `offset`; null for nothing. Its checksum and its end may be
 * missing.
 */
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
 * The length of the content that is certainly correct in a frame at the end of the file. A block of the full size is
 * correct: a damaged block header that looks like the end of the file would hardly leave the block before it with
 * exactly that size.
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

/**
 * Decompresses blocks as a separate frame: without size and checksum, with the largest window, 128 MiB (RFC 8878
 * section 3.1.1.1.2).
 */
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

/**
 * The content of a part of the file that is JSON text, joined to a history. Null where anything else begins, such as
 * damage.
 */
export function joinedTextAt(read: ReadBytes, at: number, size: number): RecoveredFrame | null {
  const content = read(at, nextFrameStart(read, at, size) - at);
  // If this is the whole file, nothing was joined.
  if (content.length === size || !startsAsJson(content) || !isUtf8(content)) return null;
  return { content, isIntact: true, isVerified: false, isComplete: true, intactLength: 0, next: at + content.length };
}

/**
 * True for text that may be an array of objects or an object in JSON, with or without a mark of its encoding. A bracket
 * alone says nothing: of the bytes of a damaged frame, one in 128 is one.
 */
export function startsAsJson(content: Buffer): boolean {
  return /^(?:\xef\xbb\xbf)?\s*(?:\[\s*[{\]]|\{\s*["}])/.test(content.toString('latin1', 0, 256));
}
