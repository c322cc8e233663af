import {
  BRACKET_SIZE,
  CLOSING,
  FILE_BLOCK,
  HEADER_SIZE,
  OPENING,
  RECORD_MAGIC,
  type RecordBody,
  readMutableStart,
  readRecord,
  readTable,
  rowOf,
  type SeekRow,
  SPACE_MAGIC,
  skippableHeader,
} from './file-layout.js';
import { fileSize, readAt } from './frames/bytes.js';
import type { Codec } from './frames/codec.js';
import { Damaged } from './frames/damaged.js';
import { type Frame, frameAt, type ReadBytes } from './frames/frame-headers.js';

/** The mutable end of the file: the newest record, what follows it, and the space for the next frame. */
export interface Tail {
  /** Where the walk began. A frame begins there as long as it is the same file. */
  readonly foundFrom: number;
  /** The start of the part that the next seal rewrites, a multiple of eight: the record, or the space that a seal left before it. */
  readonly mutableStart: number;
  readonly record: RecordBody;
  /** The offset of the record, a multiple of eight. */
  readonly recordStart: number;
  /** The first bytes at `mutableStart` and those of the record, to detect changes. */
  readonly startBytes: Buffer;
  readonly recordBytes: Buffer;
  /** The data frames between `mutableStart` and `closing`. */
  readonly frames: readonly Frame[];
  /** The offset of the closing frame, a multiple of eight. */
  readonly closing: number;
  /** The size of the space after it, in bytes. */
  readonly free: number;
  /** The size of the file. */
  readonly size: number;
}

/** An open file and its tail. */
export interface FrameSource {
  readonly codec: Codec;
  readonly file: number;
  readonly tail: Tail;
}

/** No record is nearly this large; one that claims to be is damaged. */
const MAX_RECORD_SIZE = 1024 * 1024;

/** The tail of a file, found by its seek table or, where that is missing or wrong, by walking all frames. Throws `Damaged`. */
export function findTail(codec: Codec, read: ReadBytes, size: number): Tail {
  if (!read(0, BRACKET_SIZE).equals(OPENING)) throw new Damaged('The file does not begin with the opening frame.');
  // Another program cut it off or extended it. An append would no longer survive a kill in the middle of a page.
  if (size % FILE_BLOCK !== 0) throw new Damaged('The file is not a whole number of blocks long.');
  const start = readMutableStart(read, size);
  if (start !== null) {
    try {
      return walkTail(codec, read, size, start);
    } catch (thrown) {
      // The seek table is written last: a crash may leave an older one, or half of one.
      if (!(thrown instanceof Damaged)) throw thrown;
    }
  }
  return walkTail(codec, read, size, 0);
}

/** True if the end of the file has not changed since its tail was read. `lastBytes` were before the closing frame. */
export function isStillTail(tail: Tail, file: number, lastBytes: Buffer): boolean {
  const { closing, free, size } = tail;
  if (fileSize(file) !== size) return false;
  const end = Buffer.concat([CLOSING, skippableHeader(SPACE_MAGIC, free)]);
  return isUnsealed(tail, file, lastBytes) && readAt(file, closing, end.length).equals(end);
}

/** True if what was before the closing frame is still there, and at most something was appended. */
export function isUnsealed(tail: Tail, file: number, lastBytes: Buffer): boolean {
  const { mutableStart, startBytes, recordStart, recordBytes, closing } = tail;
  // After a seal the old record may still exist as space; `startBytes` shows that.
  const isAt = (offset: number, bytes: Buffer): boolean => readAt(file, offset, bytes.length).equals(bytes);
  return (
    isAt(mutableStart, startBytes) && isAt(recordStart, recordBytes) && isAt(closing - lastBytes.length, lastBytes)
  );
}

/**
 * The tail of a file in which a frame begins at `start`, at `mutableStart` or before. Throws `Damaged` when the frames do not reach the end of the file without
 * a gap.
 */
export function walkTail(codec: Codec, read: ReadBytes, size: number, start: number): Tail {
  let mutableStart: number | null = null;
  let found: Pick<Tail, 'record' | 'recordStart' | 'recordBytes'> | null = null;
  const frames: Frame[] = [];
  for (let at = start; ; ) {
    const frame = frameAt(read, at, size);
    if (frame === null) throw new Damaged(`No whole frame begins at byte ${at}.`);
    if (isClosing(read, frame)) {
      if (found === null || mutableStart === null) throw new Damaged('The file has no record.');
      const startBytes = Buffer.from(read(mutableStart, HEADER_SIZE));
      return {
        foundFrom: start,
        mutableStart,
        startBytes,
        ...found,
        frames,
        closing: at,
        free: spaceAfter(read, at + frame.size, size),
        size,
      };
    }
    const bytes =
      frame.magic === RECORD_MAGIC && frame.size <= MAX_RECORD_SIZE ? Buffer.from(read(at, frame.size)) : null;
    const record = bytes && readRecord(codec, bytes);
    if (record) found = { record, recordStart: at, recordBytes: bytes };
    // There is no space between sealed frames: the first space is where the next seal begins.
    if (record || frame.magic === SPACE_MAGIC) mutableStart ??= at;
    if (frame.kind === 'data' && mutableStart !== null) frames.push(frame);
    at += frame.size;
  }
}

/** Every frame before `end`, from the start of the file: from the seek table as far as it goes, then by walking. Throws `Damaged`. */
export function rowsBefore(read: ReadBytes, size: number, end: number): readonly SeekRow[] {
  const known = readTable(read, size)?.slice(0, -1) ?? [];
  const covered = known.reduce((sum, row) => sum + row.size, 0);
  const trusted = covered <= end && covered === readMutableStart(read, size);
  const rows = trusted ? known : [];
  for (let at = trusted ? covered : 0; at < end; ) {
    const frame = frameAt(read, at, end);
    if (frame === null) throw new Damaged(`No whole frame begins at byte ${at}.`);
    rows.push(rowOf(frame));
    at += frame.size;
  }
  return rows;
}

/** The amount of space after the closing frame, where only skippable frames are allowed. */
function spaceAfter(read: ReadBytes, start: number, size: number): number {
  let free: number | null = null;
  for (let at = start; at < size; ) {
    const frame = frameAt(read, at, size);
    if (frame?.kind !== 'skip') throw new Damaged(`Something follows the end of the array at byte ${at}.`);
    if (free === null) {
      if (frame.magic !== SPACE_MAGIC) throw new Damaged('No space follows the end of the array.');
      free = frame.size - HEADER_SIZE;
    }
    at += frame.size;
  }
  if (free === null) throw new Damaged('No space follows the end of the array.');
  return free;
}

function isClosing(read: ReadBytes, frame: Frame): boolean {
  return frame.kind === 'data' && frame.size === BRACKET_SIZE && read(frame.offset, BRACKET_SIZE).equals(CLOSING);
}
