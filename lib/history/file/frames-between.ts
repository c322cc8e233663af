import type { Entry } from '../../chat/entry.js';
import { entriesIn } from './entries/entries.js';
import { decompressFrame } from './frames/bytes.js';
import type { Codec } from './frames/codec.js';
import { Damaged } from './frames/damaged.js';
import { frameAt, type ReadBytes } from './frames/frame-headers.js';
import type { FrameStart } from './sealed-frame.js';

/** The entries of each frame between two offsets, in order; calls `found` with the offset of each. Throws `Damaged`. */
export function* framesBetween(
  codec: Codec,
  read: ReadBytes,
  { from, to }: { readonly from: number; readonly to: number },
  found?: (start: FrameStart) => void,
): Generator<readonly Entry[]> {
  for (let at = from; at < to; ) {
    const frame = frameAt(read, at, to);
    if (frame === null) throw new Damaged(`No whole frame begins at byte ${at}.`);
    at += frame.size;
    if (frame.kind === 'skip' || frame.content <= 1) continue;
    const entries = entriesIn(decompressFrame(codec, read, frame));
    found?.({ offset: frame.offset, id: entries[0]?.id ?? 0 });
    yield entries;
  }
}
