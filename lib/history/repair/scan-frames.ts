import type { Codec } from '../file/codec.js';
import { BRACKET_SIZE, CLOSING, OPENING, RECORD_MAGIC, type RecordBody, readRecord } from '../file/file-layout.js';
import { DATA_MAGIC, frameAt, type ReadBytes } from '../file/frame-headers.js';
import { type RecoveredFrame, recoverFrame } from '../file/recover-frame.js';

/** Searched at once for the beginning of a frame. */
const WINDOW = 1024 * 1024;

/** A frame that was found in a file that may be damaged anywhere. */
export type ScannedFrame =
  | { readonly kind: 'opening' }
  | { readonly kind: 'closing' }
  | { readonly kind: 'record'; readonly body: RecordBody }
  /** `follows`: nothing unreadable lies between it and the frame before it. `stale`: it lies in space, where older copies are. */
  | {
      readonly kind: 'data';
      readonly at: number;
      readonly found: RecoveredFrame;
      readonly follows: boolean;
      readonly isStale: boolean;
    };

/** Every frame that can still be read, in the order of the file: also those that lie in space. Goes on behind what cannot be read at the next place where a frame may begin. */
export function* scanFrames(codec: Codec, read: ReadBytes, size: number): Generator<ScannedFrame> {
  let follows = true;
  let at = 0;
  if (isAlmostOpening(read(0, BRACKET_SIZE))) {
    yield { kind: 'opening' };
    at = BRACKET_SIZE;
  }
  while (at < size) {
    const frame = frameAt(read, at, size);
    if (frame?.kind === 'skip') {
      const body = frame.magic === RECORD_MAGIC ? readRecord(codec, Buffer.from(read(at, frame.size))) : null;
      if (body) yield { kind: 'record', body };
      else yield* scanSkipped(codec, read, at + 8, at + frame.size);
      at += frame.size;
      continue;
    }
    const bracket = bracketAt(read, at);
    const found = bracket === null ? recoverFrame(codec, read, at, size) : null;
    if (bracket) yield { kind: bracket };
    else if (found) yield { kind: 'data', at, found, follows, isStale: false };
    follows = bracket !== null || found?.isIntact === true;
    if (bracket) at += BRACKET_SIZE;
    else at = found?.isIntact ? found.next : nextFrameStart(read, found?.next ?? at + 1, size);
  }
}

/** The sound frames inside of what is to be skipped. */
function* scanSkipped(codec: Codec, read: ReadBytes, from: number, end: number): Generator<ScannedFrame> {
  for (let at = nextFrameStart(read, from, end); at < end; ) {
    const found = recoverFrame(codec, read, at, end);
    if (found?.isVerified) yield { kind: 'data', at, found, follows: false, isStale: true };
    at = found?.isVerified ? found.next : nextFrameStart(read, at + 1, end);
  }
}

function bracketAt(read: ReadBytes, at: number): 'opening' | 'closing' | null {
  const bytes = read(at, BRACKET_SIZE);
  if (bytes.equals(OPENING)) return 'opening';
  return bytes.equals(CLOSING) ? 'closing' : null;
}

/** True for the first bytes of a file of hi's, also when one or two of them are wrong. */
function isAlmostOpening(bytes: Buffer): boolean {
  return bytes.length === BRACKET_SIZE && OPENING.filter((byte, index) => byte !== bytes[index]).length <= 2;
}

/** The first place from `from` on where a frame may begin, `end` when there is none. */
function nextFrameStart(read: ReadBytes, from: number, end: number): number {
  const magic = Buffer.alloc(4);
  magic.writeUInt32LE(DATA_MAGIC);
  for (let start = from; start < end; start += WINDOW) {
    const bytes = read(start, Math.min(WINDOW + magic.length - 1, end - start));
    const data = bytes.indexOf(magic);
    const skip = skippableStart(bytes);
    const first = Math.min(data < 0 ? end : data, skip < 0 ? end : skip);
    if (first < WINDOW) return start + first;
  }
  return end;
}

/** Where a skippable frame may begin: `5? 2A 4D 18`. */
function skippableStart(bytes: Buffer): number {
  const rest = Buffer.from([0x2a, 0x4d, 0x18]);
  for (let at = bytes.indexOf(rest); at >= 0; at = bytes.indexOf(rest, at + 1)) {
    if (at > 0 && ((bytes[at - 1] ?? 0) & 0xf0) === 0x50) return at - 1;
  }
  return -1;
}
