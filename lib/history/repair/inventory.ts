import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';
import { isTooDeep } from '../../chat/nesting.js';
import type { RecordBody } from '../file/file-layout.js';
import type { ReadBytes } from '../file/frame-headers.js';
import type { Codec } from '../file/frames.js';
import type { Readable } from '../file/readable.js';
import { type Element, Splitter } from '../file/splitter.js';
import { checksum, soundPieces, sumsBefore } from '../file/sums.js';
import { beat } from '../lock/held.js';
import { beginsTurn, idOf, isComplete, isElement, isOurs, isSurelyElement, timeOf, turnOf } from './adopt-element.js';
import type { FoundFrame } from './found-frames.js';

/** How an entry begins that hi wrote. Inside a string the quotes would be escaped. */
const ENTRY = '{"id":';

/** How far an element can be believed. */
type Trust = 'checked' | 'plain' | 'none';

/** An element that was found, without its text: there may be a million. */
export interface Item {
  /** The frame it ends in, and its place in the content of that. */
  readonly frame: number;
  readonly start: number;
  readonly end: number;
  readonly part: number;
  readonly id: number | null;
  readonly turn: number | null;
  /** Milliseconds; that of the element before it where it does not say. */
  readonly time: number;
  readonly begins: boolean;
  readonly trust: Trust;
  /** It lies in space: an older copy, or what was never taken into the log. */
  readonly stale: boolean;
  /** A checksum of its text, however that is spaced. */
  readonly sum: number;
  /** It had to be changed to be an entry. */
  readonly changed: boolean;
}

/** One conversation of the file: there are several when files were joined. */
export interface ConversationPart {
  /** The newest record of hi's in it, null in the file of another program. */
  record: RecordBody | null;
  /** Whether hi wrote it. */
  readonly ours: boolean;
  /** Elements that are no entries. */
  leftOut: number;
  /** Something in it could not be read. */
  broken: boolean;
  splitter: Splitter;
}

/** Where a text was found, and what is known of it there. */
interface Place {
  readonly start: number;
  readonly end: number;
  readonly trust: Trust;
  readonly stale: boolean;
}

type DataFrame = Extract<FoundFrame, { readonly kind: 'data' }>;

/** Everything in a file that may be an element, in the order of the file, and which part of a file that was joined from several it belongs to. */
export class Inventory {
  readonly items: Item[] = [];
  readonly parts: ConversationPart[] = [];
  /** Where the frames begin. */
  readonly frames: number[] = [];
  /** The texts that reach over several frames, by the number of their item. */
  readonly long = new Map<number, Buffer>();
  readonly #codec: Codec;
  readonly #read: ReadBytes;
  #isOpen = false;
  #arrays = 0;
  #time = 0;
  /** How far the beginning of an unfinished element can be believed. */
  #held: Trust = 'checked';

  constructor(codec: Codec, read: ReadBytes, frames: Iterable<FoundFrame>) {
    this.#codec = codec;
    this.#read = read;
    for (const frame of frames) {
      if (frame.kind === 'data') this.#take(frame);
      else if (frame.kind === 'opening') this.#begin(true);
      else if (frame.kind === 'closing') this.#isOpen &&= !this.#part?.ours;
      else if (this.#part) this.#part.record = frame.body;
    }
  }

  get #part(): ConversationPart | undefined {
    return this.parts.at(-1);
  }

  #begin(ours: boolean, splitter = new Splitter()): ConversationPart {
    const part: ConversationPart = { record: null, ours, leftOut: 0, broken: false, splitter };
    this.parts.push(part);
    this.#isOpen = true;
    return part;
  }

  #take(frame: DataFrame): void {
    const { found, follows } = frame;
    const part = this.#part;
    beat();
    this.frames.push(frame.at);
    if (frame.stale) this.#whole(found, true);
    else if (part?.ours && this.#isOpen) this.#ours(part, frame);
    // What was space before its header was damaged.
    else if (part?.ours && !follows && OURS.test(found.content.toString('latin1', 0, 7))) this.#whole(found, true);
    else this.#foreign(frame);
  }

  /** A frame of hi's. */
  #ours(part: ConversationPart, { at, found }: DataFrame): void {
    if (found.checked) {
      this.#whole(found, false);
      return;
    }
    part.broken = true;
    const sums = sumsBefore(this.#codec, this.#read, at);
    // Without checksums of its own a frame that could be decompressed to its end, and still is wrong, is wrong anywhere.
    const pieces = sums.length > 0 ? soundPieces(found.content, sums) : [found.content.subarray(0, found.uncut)];
    for (const piece of pieces) {
      const base = piece.byteOffset - found.content.byteOffset;
      for (let start = piece.indexOf(ENTRY); start >= 0; start = piece.indexOf(ENTRY, start + 1)) {
        const [element] = new Splitter().elements(piece.subarray(start));
        if (element === undefined) continue;
        const place: Place = { start: base + start, end: base + start + element.end, trust: 'checked', stale: false };
        if (this.#add(element.text, place, true)) start += element.end - 1;
      }
    }
  }

  #whole({ content }: Readable, stale: boolean): void {
    for (const { text, start, end } of new Splitter().elements(content)) {
      this.#add(text, { start, end, trust: 'checked', stale }, stale);
    }
  }

  /** A frame of another program's: an element may reach from one into the next, but not over a gap. */
  #foreign({ found, follows }: DataFrame): void {
    const begins = !follows && BEGINNING.test(found.content.toString('latin1', 0, 64));
    let part = this.#part;
    if (part === undefined || part.ours || begins) {
      part = this.#begin(false);
      part.broken = !follows && !begins;
    } else if (!follows) {
      part.broken = true;
      part.splitter = new Splitter();
      this.#arrays = 0;
    }
    part.broken ||= !found.sound;
    for (const element of part.splitter.elements(found.content)) {
      if (part.broken && !isSure(element.text)) continue;
      part = this.#partOf(part, element);
      const here = trustOf(found, element.end);
      const trust = element.start < 0 ? least(this.#held, here) : here;
      this.#add(element.text, { start: element.start, end: element.end, trust, stale: false }, false);
      this.#held = 'checked';
    }
    this.#held = part.splitter.isInside ? least(this.#held, trustOf(found, found.content.length)) : 'checked';
  }

  /** The part that an element belongs to: a further array is a further part. */
  #partOf(part: ConversationPart, { arrays }: Element): ConversationPart {
    if (arrays === this.#arrays) return part;
    if (part.broken) {
      this.#arrays = arrays;
      return part;
    }
    const isNext = this.#arrays > 0 || this.items.at(-1)?.part === this.parts.length - 1;
    this.#arrays = arrays;
    if (!isNext) return part;
    const next = this.#begin(false, part.splitter);
    next.broken = part.broken;
    return next;
  }

  /** Takes an element in; false when it is no entry. With `strict` nothing is changed to make it one. */
  #add(text: Buffer, { start, end, trust, stale }: Place, strict: boolean): boolean {
    const value = parsed(text);
    const time = value && Date.parse(timeOf(value) ?? '');
    const part = this.#part;
    if (part === undefined || value === null || !(strict ? isOurs(value) : isElement(value))) {
      if (part && !strict) part.leftOut += 1;
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
      begins: beginsTurn(value),
      trust,
      stale,
      sum: checksum(part.ours || isTooDeep(value) ? text : Buffer.from(JSON.stringify(value))),
      changed: !isComplete(value),
    });
    return true;
  }
}

/** How the content of a frame of hi's begins. */
const OURS = /^,?\{"id":/;

/** How the content of a frame looks with which an array begins. */
const BEGINNING = /^\s*\[\s*(\{\s*"(id|turn|at|role)"|\])/;

function trustOf(found: Readable, end: number): Trust {
  if (found.sound) return found.checked ? 'checked' : 'plain';
  return end <= found.uncut ? 'checked' : 'none';
}

function least(one: Trust, other: Trust): Trust {
  if (one === 'none' || other === 'none') return 'none';
  return one === 'plain' || other === 'plain' ? 'plain' : 'checked';
}

function isSure(text: Buffer): boolean {
  const value = parsed(text);
  return value !== null && isSurelyElement(value);
}

function parsed(text: Buffer): JsonObject | null {
  try {
    const value: JsonValue = JSON.parse(text.toString());
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
