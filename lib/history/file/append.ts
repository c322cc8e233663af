import {
  BRACKET_SIZE,
  CLOSING,
  END_SIZE,
  HEADER_SIZE,
  PAGE_SIZE,
  roundUpToBlock,
  type SeekRow,
  SPACE_MAGIC,
  skippableHeader,
  spaceFor,
  tableFrame,
  tableSize,
} from './file-layout.js';
import { bufferedReader, truncateFile, writeAt } from './frames/bytes.js';
import type { Codec } from './frames/codec.js';
import type { Frame } from './frames/frame-headers.js';
import { rowsBefore, type Tail } from './tail.js';

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
