import { checksumsOf } from './checksums.js';
import {
  BRACKET_SIZE,
  CHECKSUMS_MAGIC,
  CLOSING,
  HEADER_SIZE,
  type RecordBody,
  recordFrame,
  type SeekRow,
  skippableHeader,
} from './file-layout.js';
import type { Codec } from './frames/codec.js';

/** The content size of a sealed frame: small enough for random access, large enough to compress well. */
export const SEALED_SIZE = 256 * 1024;

/** A sealed frame: its offset, its size in bytes, and the size of its content. */
export interface FramePlace {
  readonly offset: number;
  readonly size: number;
  readonly content: number;
}

/** The offset of a sealed frame, and the id of its first entry. */
export interface FrameStart {
  readonly offset: number;
  readonly id: number;
}

/**
 * The offset from which to read the entry with the id `needed` and all later ones: a known sealed frame, or null for the record.
 * `open` is the first id after the record. If no known frame is early enough, it is the beginning of the file: better too much than too little.
 */
export function neededFrom(starts: readonly FrameStart[], open: number | null, needed: number | null): number | null {
  if (needed === null || (open !== null && open <= needed)) return null;
  return starts.findLast(({ id }) => id <= needed)?.offset ?? BRACKET_SIZE;
}

/** A sealed piece of the log, which never changes again: its checksums, then its frame. */
export interface SealedFrame {
  readonly bytes: Buffer;
  readonly rows: readonly SeekRow[];
}

/** Seals a piece of full size. The length is a multiple of eight. */
export function sealedFrame(codec: Codec, content: Buffer): SealedFrame {
  const frame = codec.compress(content);
  const sums = checksumsOf(content);
  const length = HEADER_SIZE + sums.length * 4;
  const head = Buffer.alloc(length + (-(length + frame.length) & 7));
  skippableHeader(CHECKSUMS_MAGIC, head.length - HEADER_SIZE).copy(head);
  sums.forEach((sum, index) => {
    head.writeUInt32LE(sum, HEADER_SIZE + index * 4);
  });
  const rows = [
    { size: head.length, content: 0 },
    { size: frame.length, content: content.length },
  ];
  return { bytes: Buffer.concat([head, frame]), rows };
}

/** The record, the sealed frame that is not full (none if `content` is empty), and the closing frame. */
export function logEnd(codec: Codec, body: Omit<RecordBody, 'hi' | 'sums'>, content: Buffer): Buffer {
  const frame = content.length === 0 ? Buffer.alloc(0) : codec.compress(content);
  const { log, facts, needed } = body;
  const record = recordFrame(codec, { hi: 1, log, facts, needed, sums: checksumsOf(content) }, frame.length);
  return Buffer.concat([record, frame, CLOSING]);
}
