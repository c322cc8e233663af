import { cutOff, reader, writeAt } from './bytes.js';
import type { Codec } from './frames.js';
import type { Frame } from './headers.js';
import {
  BRACKET,
  CLOSING,
  END,
  HEADER,
  header,
  PAGE,
  type Row,
  SPACE,
  slack,
  tableFrame,
  tableSize,
} from './layout.js';
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
 * Makes the space after the array at least `needed` bytes large: pages of space are added one by one, the seek table is written at their end,
 * and one write of eight bytes joins it all. Throws what the system throws, the file as it was.
 */
export function grow(file: number, tail: Tail, needed: number): Tail {
  const rows = rowsBefore(reader(file), tail.size, tail.home);
  const table = tableSize(rows.length + 1);
  const pages = Math.ceil((needed - tail.free + slack(tail.size) + table + HEADER) / PAGE);
  addPages(file, tail.size, pages);
  const size = tail.size + pages * PAGE;
  const end = size - table;
  writeAt(file, tableFrame([...rows, restOf(tail, end)]), end);
  const free = end - tail.close - END;
  writeAt(file, header(SPACE, free), tail.close + BRACKET);
  return { ...tail, size, free };
}

/** The last row of the seek table: all that may still move, up to `end`, as it is when the table is written. */
export function restOf(tail: Pick<Tail, 'home' | 'frames'>, end: number): Row {
  return { size: end - tail.home, content: tail.frames.reduce((sum, frame) => sum + frame.content, 1) };
}

function addPages(file: number, size: number, pages: number): void {
  const page = Buffer.alloc(PAGE);
  header(SPACE, PAGE - HEADER).copy(page);
  try {
    for (let index = 0; index < pages; index += 1) writeAt(file, page, size + index * PAGE);
  } catch (thrown) {
    cutOff(file, size);
    throw thrown;
  }
  writeAt(file, header(SPACE, pages * PAGE - HEADER), size);
}
