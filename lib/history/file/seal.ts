import { bufferedReader, type Codec, decompressFrame, fileSize, syncData, truncateFile, writeAt } from './codec.js';
import { firstIdIn } from './entries.js';
import {
  BRACKET_SIZE,
  CHECKSUMS_MAGIC,
  CLOSING,
  checksumsOf,
  END_SIZE,
  HEADER_SIZE,
  type RecordBody,
  recordFrame,
  roundUpToBlock,
  type SeekRow,
  SPACE_MAGIC,
  skippableHeader,
  spaceFor,
  tableFrame,
  tableSize,
} from './layout.js';
import { growSpace, mutableRow, rowsBefore, type Tail, walkTail } from './tail.js';

/** True if the appended frames take so much more space than one sealed frame that sealing is worthwhile. */
export function isSealDue({ frames, record, size }: Tail): boolean {
  const loose = frames.slice(record.sums.length === 0 ? 0 : 1).reduce((sum, frame) => sum + frame.content, 0);
  return loose >= Math.min(Math.max(size / 8, SEALED_SIZE / 64), SEALED_SIZE / 8);
}

/** The tail after sealing, and the sealed frames. */
interface SealResult {
  readonly tail: Tail;
  readonly starts: readonly FrameStart[];
}

/** Creates the new record from the positions of the sealed frames and the first id after them (null: none). */
type DescribeLog = (starts: readonly FrameStart[], open: number | null) => Pick<RecordBody, 'log' | 'facts' | 'needed'>;

/**
 * Packs the appended frames into frames of full size, in place, in a time that does not depend on the length of the log:
 * writes them after the array, makes them valid there with one write of eight bytes, copies them over the frames they replace, makes them valid there, and
 * trims the file. A kill at any moment, a power cut after any step, or a system error, which it throws, leaves the same entries.
 */
export function seal(codec: Codec, file: number, tail: Tail, describe: DescribeLog): SealResult {
  const contents = tail.frames.map((frame) => decompressFrame(codec, bufferedReader(file), frame));
  const { full, open } = packFrames(contents);
  const frames = full.map((content) => sealedFrame(codec, content));
  const startsFrom = (at: number): readonly FrameStart[] => frameStartsFrom(at, frames, full);
  const first = open.length === 0 ? null : firstIdIn(open);
  const bytesAt = (at: number): Buffer =>
    Buffer.concat([...frames.map(({ bytes }) => bytes), logEnd(codec, describe(startsFrom(at), first), open)]);

  const behind = tail.closing + END_SIZE;
  const moved = bytesAt(behind);
  const end = behind + withRoom(file, tail, moved.length + HEADER_SIZE).free;
  writeAt(file, withSpace(moved, end - behind), behind);
  syncData(file);
  writeAt(file, skippableHeader(SPACE_MAGIC, behind - tail.mutableStart - HEADER_SIZE), tail.mutableStart);
  syncData(file);

  const inPlace = bytesAt(tail.mutableStart);
  const fits = tail.mutableStart + inPlace.length + HEADER_SIZE <= behind;
  if (fits) {
    const bytes = withSpace(inPlace, end - tail.mutableStart);
    writeAt(file, bytes.subarray(HEADER_SIZE), tail.mutableStart + HEADER_SIZE);
    syncData(file);
    writeAt(file, bytes.subarray(0, HEADER_SIZE), tail.mutableStart);
    syncData(file);
  }
  const sealed = walkTail(codec, bufferedReader(file), fileSize(file), tail.mutableStart);
  const starts = fits ? startsFrom(tail.mutableStart) : [];
  // Changing the size takes longer than a write, and the next seal can use the space.
  const wasteful = sealed.free > 2 * spaceFor(sealed.size) || starts.length > 0;
  return { tail: wasteful ? trim(file, sealed) : sealed, starts };
}

/** Joins the contents into pieces of full size and a rest. */
function packFrames(contents: readonly Buffer[]): { readonly full: readonly Buffer[]; readonly open: Buffer } {
  const full: Buffer[] = [];
  let open: Buffer[] = [];
  for (const content of contents) {
    open.push(content);
    if (open.reduce((sum, { length }) => sum + length, 0) < SEALED_SIZE) continue;
    full.push(Buffer.concat(open));
    open = [];
  }
  return { full, open: Buffer.concat(open) };
}

/** The positions of the sealed frames if the first one begins at `at`. */
function frameStartsFrom(
  at: number,
  frames: readonly SealedFrame[],
  contents: readonly Buffer[],
): readonly FrameStart[] {
  let offset = at;
  return frames.map(({ bytes }, index) => {
    const start = { offset, id: firstIdIn(contents[index] ?? Buffer.alloc(0)) };
    offset += bytes.length;
    return start;
  });
}

function withRoom(file: number, tail: Tail, needed: number): Tail {
  return needed <= tail.free ? tail : growSpace(file, tail, needed);
}

/** The bytes and the header of the space after them, which ends at `length` bytes. */
function withSpace(bytes: Buffer, length: number): Buffer {
  return Buffer.concat([bytes, skippableHeader(SPACE_MAGIC, length - bytes.length - HEADER_SIZE)]);
}

/** Moves the seek table forward, leaves a little space, and truncates the file. Does nothing if that gains nothing. */
function trim(file: number, tail: Tail): Tail {
  const start = tail.closing + END_SIZE;
  const rows = rowsBefore(bufferedReader(file), tail.size, tail.mutableStart);
  const table = tableSize(rows.length + 1);
  const size = roundUpToBlock(start + spaceFor(start) + table);
  if (size + HEADER_SIZE > start + tail.free) return tail;
  const end = size - table;
  const beyond = skippableHeader(SPACE_MAGIC, tail.size - size - HEADER_SIZE);
  writeAt(file, Buffer.concat([tableFrame([...rows, mutableRow(tail, end)]), beyond]), end);
  writeAt(file, skippableHeader(SPACE_MAGIC, end - start), tail.closing + BRACKET_SIZE);
  truncateFile(file, size);
  return { ...tail, size, free: end - start };
}

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
interface SealedFrame {
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
