import { isJsonObject, isTooDeep, type JsonObject, type JsonValue } from '../../chat/json.js';
import { progress } from '../base/notices.js';
import type { Codec } from '../file/codec.js';
import { ArraySplitter, type Element } from '../file/entries.js';
import type { ReadBytes } from '../file/frames.js';
import { checksumsBefore, crc32, intactPieces, type RecordBody } from '../file/layout.js';
import { heartbeat } from '../lock/holder.js';
import {
  beginsTurn,
  idOf,
  isCertainlyElement,
  isComplete,
  isElement,
  isWrittenByHi,
  timeOf,
  turnOf,
} from './other-formats.js';
import type { RecoveredFrame, ScannedFrame } from './scan-frames.js';

/** The beginning of an entry by hi. In a string the quotes would be escaped. */
const ENTRY = '{"id":';

/** An element that was found, without its text, because there may be a million. */
export interface Item {
  /** The frame in which it ends, and its position in the content of that. */
  readonly frame: number;
  readonly start: number;
  readonly end: number;
  readonly part: number;
  readonly id: number | null;
  readonly turn: number | null;
  /** In milliseconds; the time of the previous element if it has none. */
  readonly time: number;
  readonly beginsTurn: boolean;
  readonly trust: Trust;
  /** It is in unused space: an older copy, or never part of the log. */
  readonly stale: boolean;
  /** A checksum of its text, whatever the white space. */
  readonly checksum: number;
  /** It must be changed to become an entry. */
  readonly changed: boolean;
}

/** One conversation of the file: there are several when files were joined. */
interface ConversationPart {
  /** Its newest record, null in the file of another program. */
  record: RecordBody | null;
  /** Whether hi wrote it. */
  readonly isWrittenByHi: boolean;
  /** Elements that are not entries. */
  skipped: number;
  /** Part of it could not be read. */
  isDamaged: boolean;
  splitter: ArraySplitter;
}

/** The place where a text was found, and its trust. */
interface Location {
  readonly start: number;
  readonly end: number;
  readonly trust: Trust;
  readonly stale: boolean;
}

type DataFrame = Extract<ScannedFrame, { readonly kind: 'data' }>;

/** Everything in a file that may be an element, in file order, grouped by the conversations that were joined in it. */
export class Inventory {
  readonly items: Item[] = [];
  readonly parts: ConversationPart[] = [];
  /** The offsets of the frames. */
  readonly frames: number[] = [];
  /** The texts that span several frames, by the index of their item. */
  readonly long = new Map<number, Buffer>();
  readonly #codec: Codec;
  readonly #read: ReadBytes;
  readonly #place: FrameProgress | undefined;
  #isOpen = false;
  #arrays = 0;
  #time = 0;
  /** The trust of the beginning of an unfinished element. */
  #pendingTrust: Trust = 'checked';

  constructor(codec: Codec, read: ReadBytes, frames: Iterable<ScannedFrame>, place?: FrameProgress) {
    [this.#codec, this.#read, this.#place] = [codec, read, place];
    for (const frame of frames) {
      if (frame.kind === 'data') this.#take(frame);
      else if (frame.kind === 'opening') this.#begin(true);
      else if (frame.kind === 'closing') this.#isOpen &&= !this.#part?.isWrittenByHi;
      else if (this.#part) this.#part.record = frame.body;
    }
  }

  get #part() {
    return this.parts.at(-1);
  }

  #begin(isWrittenByHi: boolean, splitter = new ArraySplitter()): ConversationPart {
    const part: ConversationPart = { record: null, isWrittenByHi, skipped: 0, isDamaged: false, splitter };
    this.parts.push(part);
    this.#isOpen = true;
    return part;
  }

  #take(frame: DataFrame): void {
    const { found, follows } = frame;
    const part = this.#part;
    heartbeat();
    this.frames.push(frame.at);
    if (frame.isJoinedText) this.#takeJoined(frame);
    else if (frame.isStale) this.#takeVerified(found, true);
    else if (part?.isWrittenByHi && this.#isOpen) this.#takeNative(part, frame);
    // Unused space with a damaged header.
    else if (part?.isWrittenByHi && !follows && NATIVE_CONTENT.test(found.content.toString('latin1', 0, 7)))
      this.#takeVerified(found, true);
    else this.#takeForeign(frame);
  }

  /** A frame in hi's layout. */
  #takeNative(part: ConversationPart, { at, found }: DataFrame): void {
    if (found.isVerified) {
      this.#takeVerified(found, false);
      return;
    }
    part.isDamaged = true;
    const sums = checksumsBefore(this.#codec, this.#read, at);
    // Without checksums, a damaged frame that decompresses completely may be wrong anywhere.
    const pieces =
      sums.length > 0 ? intactPieces(found.content, sums) : [found.content.subarray(0, found.intactLength)];
    for (const piece of pieces) {
      const base = piece.byteOffset - found.content.byteOffset;
      for (let start = piece.indexOf(ENTRY); start >= 0; start = piece.indexOf(ENTRY, start + 1)) {
        const [element] = new ArraySplitter().elements(piece.subarray(start));
        if (element === undefined) continue;
        const from = base + start;
        const place: Location = { start: from, end: from + element.end, trust: 'checked', stale: false };
        if (this.#add(element.text, place, true)) start += element.end - 1;
      }
    }
  }

  #takeVerified({ content }: RecoveredFrame, stale: boolean): void {
    for (const { text, start, end } of new ArraySplitter().elements(content)) {
      this.#add(text, { start, end, trust: 'checked', stale }, stale);
    }
  }

  /** Takes a joined text as a separate conversation. */
  #takeJoined(frame: DataFrame): void {
    this.#begin(false);
    this.#arrays = 0;
    this.#pendingTrust = 'checked';
    this.#takeForeign(frame);
  }

  /** A frame of another program: an element may span frames, but not a gap. */
  #takeForeign({ found, follows }: DataFrame): void {
    const begins = !follows && ARRAY_START.test(found.content.toString('latin1', 0, 64));
    let part = this.#part;
    if (part === undefined || part.isWrittenByHi || begins) {
      part = this.#begin(false);
      part.isDamaged = !follows && !begins;
    } else if (!follows) {
      part.isDamaged = true;
      part.splitter = new ArraySplitter();
      this.#arrays = 0;
    }
    part.isDamaged ||= !found.isIntact;
    for (const element of part.splitter.elements(found.content)) {
      if (part.isDamaged && !isCertain(element.text)) continue;
      part = this.#partOf(part, element);
      const here = trustOf(found, element.end);
      const trust = element.start < 0 ? leastTrust(this.#pendingTrust, here) : here;
      this.#add(element.text, { start: element.start, end: element.end, trust, stale: false }, false);
      this.#pendingTrust = 'checked';
    }
    this.#pendingTrust = part.splitter.isInside
      ? leastTrust(this.#pendingTrust, trustOf(found, found.content.length))
      : 'checked';
  }

  /** The part of an element: every array begins a new one. */
  #partOf(part: ConversationPart, { arrays }: Element): ConversationPart {
    if (arrays === this.#arrays) return part;
    if (part.isDamaged) {
      this.#arrays = arrays;
      return part;
    }
    const isNext = this.#arrays > 0 || this.items.at(-1)?.part === this.parts.length - 1;
    this.#arrays = arrays;
    if (!isNext) return part;
    const next = this.#begin(false, part.splitter);
    next.isDamaged = part.isDamaged;
    return next;
  }

  /** Adds an element; false when it is not an entry. With `strict` it must be one without a change. */
  #add(text: Buffer, { start, end, trust, stale }: Location, strict: boolean): boolean {
    this.#place?.at(start);
    const value = parsed(text);
    const time = value && Date.parse(timeOf(value) ?? '');
    const part = this.#part;
    if (part === undefined || value === null || !(strict ? isWrittenByHi(value) : isElement(value))) {
      if (part && !strict) part.skipped += 1;
      return false;
    }
    this.#time = time === null || Number.isNaN(time) ? this.#time : time;
    if (start < 0) this.long.set(this.items.length, Buffer.from(text));
    this.items.push({
      frame: this.frames.length - 1,
      start,
      end,
      part: this.parts.length - 1,
      id: idOf(value),
      turn: turnOf(value),
      time: this.#time,
      beginsTurn: beginsTurn(value),
      trust,
      stale,
      checksum: crc32(part.isWrittenByHi || isTooDeep(value) ? text : Buffer.from(JSON.stringify(value))),
      changed: !isComplete(value),
    });
    return true;
  }
}

/** The beginning of the content of a frame in hi's layout. */
const NATIVE_CONTENT = /^,?\{"id":/;

/** The beginning of the content of a frame that starts an array. */
const ARRAY_START = /^\s*\[\s*(\{\s*"(id|turn|at|role)"|\])/;

function isCertain(text: Buffer): boolean {
  const value = parsed(text);
  return value !== null && isCertainlyElement(value);
}

function parsed(text: Buffer): JsonObject | null {
  try {
    const value: JsonValue = JSON.parse(text.toString());
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

const WHAT = 'Checking the history';

/** Reports the progress of a check, as a share of the file size. */
export class FrameProgress {
  readonly #size: number;
  #frame: DataFrame | null = null;

  constructor(size: number) {
    this.#size = size;
  }

  /** Yields the frames and tracks which one is being processed. */
  *of(frames: Iterable<ScannedFrame>): Generator<ScannedFrame> {
    for (const frame of frames) {
      this.#frame = frame.kind === 'data' ? frame : null;
      yield frame;
    }
    progress(WHAT, this.#size, this.#size);
  }

  /** Reports that the check has reached this position in the content of the frame. */
  at(start: number): void {
    if (this.#frame === null) return;
    const { at, found } = this.#frame;
    const share = Math.max(0, start) / Math.max(1, found.content.length);
    // Never the full size, which would mean the end.
    progress(WHAT, Math.min(this.#size - 1, at + share * (found.next - at)), this.#size);
  }
}

/**
 * Why an element can be trusted: a checksum covers it; there is none, but everything around it fits together; or
 * neither.
 */
type Trust = 'checked' | 'plain' | 'none';

/** The trust of the content of a frame up to `end`. */
export function trustOf(found: RecoveredFrame, end: number): Trust {
  if (found.isIntact) return found.isVerified ? 'checked' : 'plain';
  return end <= found.intactLength ? 'checked' : 'none';
}

/** The lower one of two. */
export function leastTrust(one: Trust, other: Trust): Trust {
  if (one === 'none' || other === 'none') return 'none';
  return one === 'plain' || other === 'plain' ? 'plain' : 'checked';
}
