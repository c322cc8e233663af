import { bufferedReader, type Codec, fileSize, readAt, truncateFile, writeAt } from './codec.js';
import { Damaged, type Frame, frameAt, type ReadBytes } from './frames.js';
import {
  BRACKET_SIZE,
  CLOSING,
  END_SIZE,
  FILE_BLOCK,
  HEADER_SIZE,
  OPENING,
  PAGE_SIZE,
  RECORD_MAGIC,
  type RecordBody,
  readMutableStart,
  readRecord,
  readTable,
  roundUpToBlock,
  rowOf,
  type SeekRow,
  SPACE_MAGIC,
  skippableHeader,
  spaceFor,
  tableFrame,
  tableSize,
} from './layout.js';

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

/**
 * Appends one frame of whole entries. Writes everything into the space after the array, which readers skip;
 * then one aligned write of eight bytes turns the old closing frame into space and makes the new one valid.
 * A kill at any moment leaves the file either unchanged or complete. When it throws a system error the file is unchanged.
 */
export function appendFrame(codec: Codec, file: number, before: Tail, content: Buffer): Tail {
  const bytes = codec.compress(content);
  const padding = -bytes.length & 7;
  const taken = padding + bytes.length + END_SIZE;
  const tail = taken <= before.free ? before : growSpace(file, before, taken);
  const { closing, free } = tail;
  const offset = closing + END_SIZE + padding;
  writeAt(
    file,
    Buffer.concat([Buffer.alloc(padding), bytes, CLOSING, skippableHeader(SPACE_MAGIC, free - taken)]),
    closing + END_SIZE,
  );
  writeAt(file, skippableHeader(SPACE_MAGIC, BRACKET_SIZE + padding), closing);
  const frame: Frame = { kind: 'data', magic: 0, offset, size: bytes.length, content: content.length, exact: true };
  return { ...tail, frames: [...tail.frames, frame], closing: offset + bytes.length, free: free - taken };
}

/**
 * Grows the space after the array to at least `needed` bytes: adds space page by page, writes the seek table at its end,
 * and joins it all with one write of eight bytes. When it throws a system error the file is unchanged.
 */
export function growSpace(file: number, tail: Tail, needed: number): Tail {
  const rows = rowsBefore(bufferedReader(file), tail.size, tail.mutableStart);
  const table = tableSize(rows.length + 1);
  const size = roundUpToBlock(tail.size + needed - tail.free + spaceFor(tail.size) + table + HEADER_SIZE);
  addSpace(file, tail.size, size);
  const end = size - table;
  writeAt(file, tableFrame([...rows, mutableRow(tail, end)]), end);
  const free = end - tail.closing - END_SIZE;
  writeAt(file, skippableHeader(SPACE_MAGIC, free), tail.closing + BRACKET_SIZE);
  return { ...tail, size, free };
}

/** The last row of the seek table: everything up to `end` that may still change, at the time of writing the table. */
export function mutableRow(tail: Pick<Tail, 'mutableStart' | 'frames'>, end: number): SeekRow {
  return { size: end - tail.mutableStart, content: tail.frames.reduce((sum, frame) => sum + frame.content, 1) };
}

function addSpace(file: number, from: number, to: number): void {
  const page = Buffer.alloc(PAGE_SIZE);
  try {
    for (let at = from; at < to; ) {
      const end = Math.min(to, at - (at % PAGE_SIZE) + PAGE_SIZE);
      skippableHeader(SPACE_MAGIC, end - at - HEADER_SIZE).copy(page);
      writeAt(file, page.subarray(0, end - at), at);
      at = end;
    }
  } catch (thrown) {
    truncateFile(file, from);
    throw thrown;
  }
  writeAt(file, skippableHeader(SPACE_MAGIC, to - from - HEADER_SIZE), from);
}
