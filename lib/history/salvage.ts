import type { Entry } from '../chat/message.js';
import { entryIn } from './entries.js';
import type { Codec } from './frames.js';
import { DATA_MAGIC, type Read } from './headers.js';
import { beat } from './held.js';
import { BRACKET, OPENING } from './layout.js';
import { type Readable, readableAt } from './readable.js';
import { Splitter } from './splitter.js';
import { soundPieces, sumsBefore } from './sums.js';

/** Searched at once for the beginning of a frame. */
const WINDOW = 1024 * 1024;

/** How an entry begins that hi wrote. Inside a string the quotes would be escaped. */
const ENTRY = '{"id":';

/**
 * Every whole entry that can still be read in a damaged file, oldest first, each once, with none that is not as it was written.
 * Believes checksums only: it looks wherever a frame may begin, also in space that holds nothing, where older copies of entries may lie.
 */
export function* salvage(codec: Codec, read: Read, size: number): Generator<Entry> {
  const ours = read(0, BRACKET).equals(OPENING);
  let splitter = new Splitter();
  let last = 0;
  let end = 0;
  for (const at of frameStarts(read, size)) {
    if (at < end) continue;
    beat();
    const found = readableAt(codec, read, at, size);
    if (found === null) continue;
    // An entry of a foreign file may reach from one frame into the next, but not over a gap.
    if (ours || at !== end) splitter = new Splitter();
    end = found.end;
    const texts = found.sound || !ours ? splitter.push(found.content) : textsIn(codec, read, at, found);
    for (const text of texts) {
      const entry = entryIn(text);
      if (entry === null || entry.id <= last) continue;
      last = entry.id;
      yield entry;
    }
  }
}

function* frameStarts(read: Read, size: number): Generator<number> {
  const magic = Buffer.alloc(4);
  magic.writeUInt32LE(DATA_MAGIC);
  for (let start = 0; start < size; start += WINDOW) {
    const bytes = read(start, WINDOW + magic.length - 1);
    for (let at = bytes.indexOf(magic); at >= 0; at = bytes.indexOf(magic, at + 1)) yield start + at;
  }
}

/** The objects in what is left of a damaged frame of ours. */
function* textsIn(codec: Codec, read: Read, at: number, { content, complete }: Readable): Generator<Buffer> {
  const sums = sumsBefore(codec, read, at);
  // Without checksums of its own a frame that could be decompressed to its end, and still is wrong, is wrong anywhere.
  const pieces = sums.length > 0 ? soundPieces(content, sums) : complete ? [] : [content];
  for (const piece of pieces) {
    for (let start = piece.indexOf(ENTRY); start >= 0; start = piece.indexOf(ENTRY, start + 1)) {
      const [text] = new Splitter().push(piece.subarray(start));
      if (text === undefined) continue;
      yield text;
      if (entryIn(text) !== null) start += text.length - 1;
    }
  }
}
