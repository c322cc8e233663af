import type { Entry } from '../../chat/message.js';
import { beat } from '../lock/held.js';
import { contentAt } from './bytes.js';
import { Damaged, Unordered } from './damaged.js';
import { entryIn, ID_LIMIT } from './entries.js';
import { frameAt, type ReadBytes } from './frame-headers.js';
import type { Codec } from './frames.js';
import { Splitter } from './splitter.js';

/** So much of a large frame is looked at in one go. */
const PIECE = 1024 * 1024;

/**
 * The entries of any file that zstd decompresses to one JSON array, however it is cut into frames, piece by piece.
 * Throws `Damaged` where a frame is not whole or the array is not, and at the end `Unordered` when something in it is not an entry or out of order.
 */
export function* entriesOfArray(codec: Codec, read: ReadBytes, size: number): Generator<readonly Entry[]> {
  const splitter = new Splitter();
  let last = 0;
  let ordered = true;
  for (const piece of piecesOf(codec, read, size)) {
    beat();
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
  if (!ordered) throw new Unordered('The array holds something else than entries in order.');
}

function* piecesOf(codec: Codec, read: ReadBytes, size: number): Generator<Buffer> {
  for (let at = 0; at < size; ) {
    const frame = frameAt(read, at, size);
    if (frame === null) throw new Damaged(`No whole frame begins at byte ${at}.`);
    at += frame.size;
    if (frame.kind === 'skip') continue;
    const content = contentAt(codec, read, frame);
    for (let start = 0; start < content.length; start += PIECE) yield content.subarray(start, start + PIECE);
  }
}
