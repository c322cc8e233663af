import type { Entry } from '../../chat/entry.js';
import { progress } from '../base/long-work.js';
import { heartbeat } from '../lock/holder.js';
import { ArraySplitter } from './entries/array-splitter.js';
import { entryIn, ID_LIMIT } from './entries/entries.js';
import { decompressFrame } from './frames/bytes.js';
import type { Codec } from './frames/codec.js';
import { Damaged, Unordered } from './frames/damaged.js';
import { frameAt, type ReadBytes } from './frames/frame-headers.js';

/** The size of the chunks in which a large frame is parsed. */
const CHUNK_SIZE = 1024 * 1024;

/**
 * The entries of any file that decompresses to one JSON array, whatever its frames, in chunks.
 * Throws `Damaged` when a frame or the array is incomplete, and at the end `Unordered` when an element is not an entry or out of order.
 */
export function* entriesOfArray(
  codec: Codec,
  read: ReadBytes,
  size: number,
  what = 'Reading the history',
): Generator<readonly Entry[]> {
  try {
    yield* entriesIn(contentChunks(codec, read, size, what));
  } finally {
    progress(what, size, size);
  }
}

function* entriesIn(pieces: Iterable<Buffer>): Generator<readonly Entry[]> {
  const splitter = new ArraySplitter();
  let last = 0;
  let ordered = true;
  for (const piece of pieces) {
    heartbeat();
    const entries: Entry[] = [];
    for (const text of splitter.push(piece)) {
      const entry = entryIn(text);
      ordered &&= entry !== null && entry.id > last && entry.id < ID_LIMIT;
      if (entry === null || !ordered) continue;
      last = entry.id;
      entries.push(entry);
    }
    yield entries;
  }
  if (!splitter.isWhole) throw new Damaged('The frames do not hold one JSON array.');
  if (!ordered) throw new Unordered('The array holds elements that are not entries, or not in order.');
}

function* contentChunks(codec: Codec, read: ReadBytes, size: number, what: string): Generator<Buffer> {
  for (let at = 0; at < size; ) {
    const frame = frameAt(read, at, size);
    if (frame === null) throw new Damaged(`No whole frame begins at byte ${at}.`);
    if (frame.kind === 'data') {
      const content = decompressFrame(codec, read, frame);
      for (let start = 0; start < content.length; start += CHUNK_SIZE) {
        progress(what, at + (frame.size * start) / content.length, size);
        yield content.subarray(start, start + CHUNK_SIZE);
      }
    }
    at += frame.size;
  }
}
