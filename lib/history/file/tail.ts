import {
  bufferedReader,
  type Codec,
  decompressFrame,
  fileSize,
  readAt,
  syncData,
  truncateFile,
  writeAt,
} from './codec.js';
import { firstIdIn } from './entries.js';
import { Damaged, type Frame, frameAt, type ReadBytes } from './frames.js';
import {
  BRACKET_SIZE,
  CHECKSUMS_MAGIC,
  CLOSING,
  checksumsOf,
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
  recordFrame,
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
  /** The start of what the next seal rewrites, a multiple of eight: the record, or the space left before it. */
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

/** The tail of a file, found by its seek table or, where that is missing or wrong, by walking. Throws `Damaged`. */
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
 * The tail of a file in which a frame begins at `start`, at `mutableStart` or before. Throws `Damaged` when the frames
 * do not reach the end of the file without a gap.
 */
function walkTail(codec: Codec, read: ReadBytes, size: number, start: number): Tail {
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

/** Every frame before `end`: from the seek table as far as it goes, then by walking. Throws `Damaged`. */
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
 * Appends one frame of whole entries. Writes everything into the space after the array, which readers skip; then one
 * aligned write of eight bytes turns the old closing frame into space and makes the new one valid. A kill at any moment
 * leaves the file either unchanged or complete. When it throws a system error the file is unchanged.
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
 * Grows the space after the array to at least `needed` bytes: adds space page by page, writes the seek table at its
 * end, and joins it all with one write of eight bytes. When it throws a system error the file is unchanged.
 */
function growSpace(file: number, tail: Tail, needed: number): Tail {
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
function mutableRow(tail: Pick<Tail, 'mutableStart' | 'frames'>, end: number): SeekRow {
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
 * Packs the appended frames into frames of full size, in place, in a time that does not depend on the length of the
 * log: writes them after the array, makes them valid there with one write of eight bytes, copies them over the frames
 * they replace, makes them valid there, and trims the file. A kill at any moment, a power cut after any step, or a
 * system error, which it throws, leaves the same entries.
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
 * The offset from which to read the entry with the id `needed` and all later ones: a known sealed frame, or null for
 * the record. `open` is the first id after the record. If no known frame is early enough, it is the beginning of the
 * file: better too much than too little.
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
