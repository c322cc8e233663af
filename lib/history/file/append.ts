import { cutOff, reader, writeAt } from './bytes.js';
import {
  BRACKET,
  CLOSING,
  END,
  HEADER,
  header,
  PAGE_SIZE,
  type SeekRow,
  SPACE,
  slack,
  tableFrame,
  tableSize,
  wholeBlocks,
} from './file-layout.js';
import type { Frame } from './frame-headers.js';
import type { Codec } from './frames.js';
import { rowsBefore, type Tail } from './tail.js';

/**
 * Adds one frame of whole entries. Everything is written into the space after the array, where it means nothing yet;
 * then one aligned write of eight bytes turns the old closing frame into space, and the new one counts.
 * A process killed at any moment leaves the file as it was or as it shall be. Throws what the system throws, the file as it was.
 */
export function append(codec: Codec, file: number, before: Tail, content: Buffer): Tail {
  const bytes = codec.compress(content);
  const padding = -bytes.length & 7;
  const taken = padding + bytes.length + END;
  const tail = taken <= before.free ? before : grow(file, before, taken);
  const { close, free } = tail;
  const offset = close + END + padding;
  writeAt(file, Buffer.concat([Buffer.alloc(padding), bytes, CLOSING, header(SPACE, free - taken)]), close + END);
  writeAt(file, header(SPACE, BRACKET + padding), close);
  const frame: Frame = { kind: 'data', magic: 0, offset, size: bytes.length, content: content.length, exact: true };
  return { ...tail, frames: [...tail.frames, frame], close: offset + bytes.length, free: free - taken };
}

/**
 * Makes the space after the array at least `needed` bytes large: space is added page by page, the seek table is written at its end,
 * and one write of eight bytes joins it all. Throws what the system throws, the file as it was.
 */
export function grow(file: number, tail: Tail, needed: number): Tail {
  const rows = rowsBefore(reader(file), tail.size, tail.home);
  const table = tableSize(rows.length + 1);
  const size = wholeBlocks(tail.size + needed - tail.free + slack(tail.size) + table + HEADER);
  addSpace(file, tail.size, size);
  const end = size - table;
  writeAt(file, tableFrame([...rows, restOf(tail, end)]), end);
  const free = end - tail.close - END;
  writeAt(file, header(SPACE, free), tail.close + BRACKET);
  return { ...tail, size, free };
}

/** The last row of the seek table: all that may still move, up to `end`, as it is when the table is written. */
export function restOf(tail: Pick<Tail, 'home' | 'frames'>, end: number): SeekRow {
  return { size: end - tail.home, content: tail.frames.reduce((sum, frame) => sum + frame.content, 1) };
}

function addSpace(file: number, from: number, to: number): void {
  const page = Buffer.alloc(PAGE_SIZE);
  try {
    for (let at = from; at < to; ) {
      const end = Math.min(to, at - (at % PAGE_SIZE) + PAGE_SIZE);
      header(SPACE, end - at - HEADER).copy(page);
      writeAt(file, page.subarray(0, end - at), at);
      at = end;
    }
  } catch (thrown) {
    cutOff(file, from);
    throw thrown;
  }
  writeAt(file, header(SPACE, to - from - HEADER), from);
}
