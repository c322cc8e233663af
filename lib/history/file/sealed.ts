import { BRACKET, CLOSING, HEADER, header, type RecordBody, recordFrame, type SeekRow, SUMS } from './file-layout.js';
import type { Codec } from './frames.js';
import { sumsOf } from './sums.js';

/** How much content a sealed frame holds: small enough to open from its middle, large enough to compress well. */
export const FULL = 256 * 1024;

/** A full frame: where it begins, and the id of the first entry in it. */
export interface Start {
  readonly offset: number;
  readonly id: number;
}

/**
 * Where to begin reading to see the entry with the id `needed` and all later ones: at one of the full frames that are known, null when the record comes first.
 * `open` is the first id after the record. With no known frame early enough it is the beginning of the file: too much is read then, never too little.
 */
export function neededFrom(starts: readonly Start[], open: number | null, needed: number | null): number | null {
  if (needed === null || (open !== null && open <= needed)) return null;
  return starts.findLast(({ id }) => id <= needed)?.offset ?? BRACKET;
}

/** A piece of the log that is full, as it stays in the file for good: its checksums, then its frame. */
export interface Sealed {
  readonly bytes: Buffer;
  readonly rows: readonly SeekRow[];
}

/** The frames of a full piece. Their length is a multiple of eight. */
export function sealedPiece(codec: Codec, content: Buffer): Sealed {
  const frame = codec.compress(content);
  const sums = sumsOf(content);
  const length = HEADER + sums.length * 4;
  const head = Buffer.alloc(length + (-(length + frame.length) & 7));
  header(SUMS, head.length - HEADER).copy(head);
  sums.forEach((sum, index) => {
    head.writeUInt32LE(sum, HEADER + index * 4);
  });
  const rows = [
    { size: head.length, content: 0 },
    { size: frame.length, content: content.length },
  ];
  return { bytes: Buffer.concat([head, frame]), rows };
}

/** The record, the frame of what is sealed but not yet full (none when `content` is empty), and the closing frame. */
export function ending(codec: Codec, body: Omit<RecordBody, 'hi' | 'sums'>, content: Buffer): Buffer {
  const frame = content.length === 0 ? Buffer.alloc(0) : codec.compress(content);
  const { log, facts, needed } = body;
  const record = recordFrame(codec, { hi: 1, log, facts, needed, sums: sumsOf(content) }, frame.length);
  return Buffer.concat([record, frame, CLOSING]);
}
