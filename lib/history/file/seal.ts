import { grow, restOf } from './append.js';
import { contentAt, cutOff, flush, reader, sizeOf, writeAt } from './bytes.js';
import { firstIdIn } from './entries.js';
import {
  BRACKET,
  END,
  HEADER,
  header,
  type RecordBody,
  SPACE,
  slack,
  tableFrame,
  tableSize,
  wholeBlocks,
} from './file-layout.js';
import type { Codec } from './frames.js';
import { ending, FULL, type Sealed, type Start, sealedPiece } from './sealed.js';
import { rowsBefore, type Tail, walkTail } from './tail.js';

/** True when the frames that were appended one by one take so much more space than together that sealing them pays. */
export function isSealDue({ frames, record, size }: Tail): boolean {
  const loose = frames.slice(record.sums.length === 0 ? 0 : 1).reduce((sum, frame) => sum + frame.content, 0);
  return loose >= Math.min(Math.max(size / 8, FULL / 64), FULL / 8);
}

/** The tail after sealing, and the full frames it made. */
export interface SealResult {
  readonly tail: Tail;
  readonly starts: readonly Start[];
}

/** What the new record says of the log, once it is known where the new full frames begin and which id comes first after them (null: none). */
export type Describe = (starts: readonly Start[], open: number | null) => Pick<RecordBody, 'log' | 'facts' | 'needed'>;

/**
 * Puts what was appended frame by frame into frames of full size, whatever the length of the log, without another file:
 * written behind the array, made valid there by one write of eight bytes, copied over what it replaces, made valid there, and the rest given back.
 * A process killed at any moment, and a power cut after any of the steps, leaves the same entries. Throws what the system throws, the entries as they were.
 */
export function seal(codec: Codec, file: number, tail: Tail, describe: Describe): SealResult {
  const contents = tail.frames.map((frame) => contentAt(codec, reader(file), frame));
  const { full, open } = packed(contents);
  const frames = full.map((content) => sealedPiece(codec, content));
  const startsFrom = (at: number): readonly Start[] => startsAt(at, frames, full);
  const first = open.length === 0 ? null : firstIdIn(open);
  const bytesAt = (at: number): Buffer =>
    Buffer.concat([...frames.map(({ bytes }) => bytes), ending(codec, describe(startsFrom(at), first), open)]);

  const behind = tail.close + END;
  const aside = bytesAt(behind);
  const end = behind + withRoom(file, tail, aside.length + HEADER).free;
  writeAt(file, withSpace(aside, end - behind), behind);
  flush(file);
  writeAt(file, header(SPACE, behind - tail.home - HEADER), tail.home);
  flush(file);

  const home = bytesAt(tail.home);
  const fits = tail.home + home.length + HEADER <= behind;
  if (fits) {
    const bytes = withSpace(home, end - tail.home);
    writeAt(file, bytes.subarray(HEADER), tail.home + HEADER);
    flush(file);
    writeAt(file, bytes.subarray(0, HEADER), tail.home);
    flush(file);
  }
  const sealed = walkTail(codec, reader(file), sizeOf(file), tail.home);
  const starts = fits ? startsFrom(tail.home) : [];
  // A change of size costs the file system more than a write: left alone, the space serves the next seal.
  const wasteful = sealed.free > 2 * slack(sealed.size) || starts.length > 0;
  return { tail: wasteful ? trim(file, sealed) : sealed, starts };
}

/** The contents joined into pieces of full size, and what is left over for the next time. */
function packed(contents: readonly Buffer[]): { readonly full: readonly Buffer[]; readonly open: Buffer } {
  const full: Buffer[] = [];
  let open: Buffer[] = [];
  for (const content of contents) {
    open.push(content);
    if (open.reduce((sum, { length }) => sum + length, 0) < FULL) continue;
    full.push(Buffer.concat(open));
    open = [];
  }
  return { full, open: Buffer.concat(open) };
}

/** Where each full piece begins when the first one begins at `at`. */
function startsAt(at: number, frames: readonly Sealed[], contents: readonly Buffer[]): readonly Start[] {
  let offset = at;
  return frames.map(({ bytes }, index) => {
    const start = { offset, id: firstIdIn(contents[index] ?? Buffer.alloc(0)) };
    offset += bytes.length;
    return start;
  });
}

function withRoom(file: number, tail: Tail, needed: number): Tail {
  return needed <= tail.free ? tail : grow(file, tail, needed);
}

/** The bytes, and the header of the space that follows it up to `length` bytes. */
function withSpace(bytes: Buffer, length: number): Buffer {
  return Buffer.concat([bytes, header(SPACE, length - bytes.length - HEADER)]);
}

/** Writes the seek table anew right behind a little space, and gives back what is beyond. Does nothing where that gains nothing. */
function trim(file: number, tail: Tail): Tail {
  const start = tail.close + END;
  const rows = rowsBefore(reader(file), tail.size, tail.home);
  const table = tableSize(rows.length + 1);
  const size = wholeBlocks(start + slack(start) + table);
  if (size + HEADER > start + tail.free) return tail;
  const end = size - table;
  const beyond = header(SPACE, tail.size - size - HEADER);
  writeAt(file, Buffer.concat([tableFrame([...rows, restOf(tail, end)]), beyond]), end);
  writeAt(file, header(SPACE, end - start), tail.close + BRACKET);
  cutOff(file, size);
  return { ...tail, size, free: end - start };
}
