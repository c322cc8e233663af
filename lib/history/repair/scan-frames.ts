import { BRACKET_SIZE, CLOSING, OPENING, RECORD_MAGIC, type RecordBody, readRecord } from '../file/file-layout.js';
import type { Codec } from '../file/frames/codec.js';
import { frameAt, type ReadBytes } from '../file/frames/frame-headers.js';
import { type RecoveredFrame, recoverFrame } from '../file/frames/recover-frame.js';
import { joinedTextAt } from './joined-text.js';
import { nextFrameStart } from './next-frame.js';

/** A frame that was found in a file that may be damaged anywhere. */
export type ScannedFrame =
  | { readonly kind: 'opening' }
  | { readonly kind: 'closing' }
  | { readonly kind: 'record'; readonly body: RecordBody }
  | {
      readonly kind: 'data';
      readonly at: number;
      readonly found: RecoveredFrame;
      /** Nothing unreadable lies between it and the frame before it. */
      readonly follows: boolean;
      /** It is in unused space, which contains older copies. */
      readonly isStale: boolean;
      /** It is not a frame but another file, of text or gzip, that was joined to this one. */
      readonly isJoinedText: boolean;
    };

/** Every readable frame in file order, including those in unused space. Skips unreadable parts up to the next possible start of a frame. */
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
    const text = frame === null ? joinedTextAt(read, at, size) : null;
    if (text) {
      yield { kind: 'data', at, found: text, follows: true, isStale: false, isJoinedText: true };
      follows = true;
      at = text.next;
      continue;
    }
    const bracket = bracketAt(read, at);
    const found = bracket === null ? recoverFrame(codec, read, at, size) : null;
    if (bracket) yield { kind: bracket };
    else if (found) yield { kind: 'data', at, found, follows, isStale: false, isJoinedText: false };
    follows = bracket !== null || found?.isIntact === true;
    if (bracket) at += BRACKET_SIZE;
    else at = found?.isIntact ? found.next : nextFrameStart(read, found?.next ?? at + 1, size);
  }
}

/** The verified frames inside a skippable one. */
function* scanSkipped(codec: Codec, read: ReadBytes, from: number, end: number): Generator<ScannedFrame> {
  for (let at = nextFrameStart(read, from, end); at < end; ) {
    const found = recoverFrame(codec, read, at, end);
    if (found?.isVerified) yield { kind: 'data', at, found, follows: false, isStale: true, isJoinedText: false };
    at = found?.isVerified ? found.next : nextFrameStart(read, at + 1, end);
  }
}

function bracketAt(read: ReadBytes, at: number): 'opening' | 'closing' | null {
  const bytes = read(at, BRACKET_SIZE);
  if (bytes.equals(OPENING)) return 'opening';
  return bytes.equals(CLOSING) ? 'closing' : null;
}

/** True for the first bytes of a file in hi's layout, even when one or two of them are wrong. */
function isAlmostOpening(bytes: Buffer): boolean {
  return bytes.length === BRACKET_SIZE && OPENING.filter((byte, index) => byte !== bytes[index]).length <= 2;
}
