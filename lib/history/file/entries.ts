import { type Entry, isMessage, storedText } from '../../chat/entry.js';
import { decodeEntry } from './decode-entry.js';
import { Damaged } from './frames.js';

/** Ids stay below this number, far from the largest safe integer, 2 ** 53 - 1. */
export const ID_LIMIT = 2 ** 52;

/** A file of another program whose last id reaches this number gets new ids, so that there is room for later ones. */
export const ROOM_LIMIT = ID_LIMIT - 2 ** 20;

const COMMA = 0x2c;
const BRACKET = 0x5b;

/**
 * The entries in the content of one frame: whole entries with commas between them, after an optional leading `[` or
 * `,`. Throws `Damaged` for anything else.
 */
export function entriesIn(content: Buffer): readonly Entry[] {
  const lead = content[0];
  const text = content.toString('utf8', lead === COMMA || lead === BRACKET ? 1 : 0);
  const values = parsed(`[${text}]`);
  // Only entries with placeholders need their text, and they are rare.
  let texts: readonly string[] | null = null;
  const textAt = (index: number): string => {
    texts ??= Array.from(new ArraySplitter().push(Buffer.from(`[${text}]`)), (piece) => piece.toString());
    return texts[index] ?? '';
  };
  return values.map((value, index) => {
    const entry = decodeEntry(value, () => textAt(index));
    if (entry === null) throw new Damaged('A frame contains something that is not an entry.');
    return entry;
  });
}

/** The entry in some text, null when it is not one. */
export function entryIn(text: Buffer): Entry | null {
  try {
    return decodeEntry(JSON.parse(text.toString()), () => text.toString());
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return null;
    throw thrown;
  }
}

/** The id of the first entry in the content of a frame. */
export function firstIdIn(content: Buffer): number {
  // hi writes the id first, so that this need not parse the frame.
  const match = /^[[,]?\{"id":(\d+)[,}]/.exec(content.toString('latin1', 0, 64));
  return match ? Number(match[1]) : (entriesIn(content)[0]?.id ?? 0);
}

/** The content of a frame with these entries; the first one of a history has no comma before it. */
export function frameContent(entries: readonly Entry[], first: boolean): Buffer {
  const pieces = entries.flatMap((entry, index) => (index === 0 && first ? [] : [',']).concat(storedText(entry)));
  // Not joined into one string first: that would copy a long answer once more.
  const content = Buffer.allocUnsafe(pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0));
  let at = 0;
  for (const piece of pieces) at += content.write(piece, at);
  return content;
}

/** How many of the entries are messages. */
export function messagesIn(entries: readonly Entry[]): number {
  let messages = 0;
  for (const entry of entries) if (isMessage(entry)) messages += 1;
  return messages;
}

/** The entries from the `count`th last message on; all when there are fewer. */
export function lastMessages(entries: readonly Entry[], count: number): readonly Entry[] {
  let left = count;
  const before = entries.findLastIndex((entry) => isMessage(entry) && --left < 0);
  return entries.slice(before + 1);
}

function parsed(text: string): readonly unknown[] {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Damaged('A frame contains something that is not JSON.', { cause });
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
/** White space of JSON, and the bytes of a byte order mark, which some programs write at the start. */
const WHITE_SPACE: readonly number[] = [0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf];

/** The last token of an array; an object is one token. */
type Token = 'start' | '[' | 'object' | ',' | ']' | 'broken';

/** Which tokens may come before a token. */
const FOLLOWS: Readonly<Record<string, readonly Token[]>> = {
  '[': ['start'],
  object: ['[', ','],
  ',': ['object'],
  ']': ['[', 'object'],
};

/** One object of an array. */
export interface Element {
  readonly text: Buffer;
  /** Where it begins in the piece, negative when it began in an earlier one. */
  readonly start: number;
  readonly end: number;
  /** How many arrays began before it. */
  readonly arrays: number;
}

/**
 * Finds the objects of a JSON array in its bytes, however these are cut into pieces, and buffers at most one unfinished
 * object. It looks at braces and strings only; the parser decides whether an object is JSON.
 */
export class ArraySplitter {
  /** An object of more bytes is left out. */
  readonly #limit: number;
  #dropped = 0;
  #pending: Buffer[] = [];
  /** The bytes of the unfinished object so far. */
  #held = 0;
  #lastToken: Token = 'start';
  #depth = 0;
  #quoted = false;
  /** The last byte was a backslash that escapes the next one. */
  #escaped = false;
  #arrays = 0;
  #closed = 0;
  #strays = 0;
  #last = '';

  constructor(limit = Number.POSITIVE_INFINITY) {
    this.#limit = limit;
  }

  /** The number of objects that were left out. */
  get dropped(): number {
    return this.#dropped;
  }

  /** True when the input so far is one array of objects from `[` to `]`. */
  get isWhole(): boolean {
    return this.#lastToken === ']';
  }

  /** True when the input so far is only whole objects, in any number of whole arrays or in none. */
  get isWellFormed(): boolean {
    return this.#depth === 0 && this.#strays === 0 && this.#arrays === this.#closed;
  }

  /** True when the objects are in no array. */
  get isObjectLines(): boolean {
    return this.#arrays === 0 && this.#last === 'object';
  }

  /** True in the middle of an object. */
  get isInside(): boolean {
    return this.#depth > 0;
  }

  /** True in an array that has not ended. */
  get isOpen(): boolean {
    return this.#arrays > this.#closed;
  }

  /** The objects that end in this piece. All must be consumed before the next piece. */
  *push(piece: Buffer): Generator<Buffer> {
    for (const { text } of this.elements(piece)) yield text;
  }

  /** Like `push`, with the position of each object. An array after or inside another one counts as a further array. */
  *elements(piece: Buffer): Generator<Element> {
    let start = -this.#held;
    for (let at = 0; at < piece.length; ) {
      if (this.#quoted) {
        at = this.#endOfString(piece, at);
        continue;
      }
      const byte = piece[at] ?? 0;
      at += 1;
      if (byte === OPEN) {
        if (this.#depth === 0) start = at - 1;
        this.#depth += 1;
      } else if (this.#depth === 0) {
        if (!WHITE_SPACE.includes(byte)) this.#follow(String.fromCharCode(byte));
      } else if (byte === QUOTE) {
        this.#quoted = true;
      } else if (byte === CLOSE) {
        this.#depth -= 1;
        if (this.#depth > 0) continue;
        this.#follow('object');
        const isDropped = at - start > this.#limit;
        const text = this.#whole(piece, start, at);
        if (isDropped) this.#dropped += 1;
        else yield { text, start, end: at, arrays: this.#arrays };
      }
    }
    if (this.#depth > 0) this.#hold(piece.subarray(Math.max(start, 0)));
  }

  #hold(part: Buffer): void {
    this.#held += part.length;
    if (this.#held > this.#limit) this.#pending = [];
    else this.#pending.push(part);
  }

  #whole(piece: Buffer, start: number, end: number): Buffer {
    const text = piece.subarray(Math.max(start, 0), end);
    this.#held = 0;
    if (this.#pending.length === 0) return text;
    const whole = Buffer.concat([...this.#pending, text]);
    this.#pending = [];
    return whole;
  }

  /** The end of the string that continues at `from`, or of the piece. */
  #endOfString(piece: Buffer, from: number): number {
    const quote = piece.indexOf(QUOTE, from);
    const end = quote < 0 ? piece.length : quote;
    let first = end;
    while (first > from && piece[first - 1] === BACKSLASH) first -= 1;
    const backslashes = end - first + (first === from && this.#escaped ? 1 : 0);
    this.#escaped = backslashes % 2 === 1;
    if (quote < 0) return end;
    this.#quoted = this.#escaped;
    this.#escaped = false;
    return end + 1;
  }

  #follow(next: string): void {
    if (next === '[' && this.#last !== '[') this.#arrays += 1;
    if (next === ']' && this.#closed < this.#arrays) this.#closed += 1;
    this.#last = next;
    if (!isToken(next)) this.#strays += 1;
    this.#lastToken = isToken(next) && FOLLOWS[next]?.includes(this.#lastToken) ? next : 'broken';
  }
}

function isToken(value: string): value is Token {
  return value in FOLLOWS;
}
