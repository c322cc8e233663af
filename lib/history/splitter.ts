const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const WHITE: readonly number[] = [0x20, 0x09, 0x0a, 0x0d];

/** What came last of an array, objects taken for whole. */
type Place = 'start' | '[' | 'object' | ',' | ']' | 'broken';

/** What may follow what. */
const FOLLOWS: Readonly<Record<string, readonly Place[]>> = {
  '[': ['start'],
  object: ['[', ','],
  ',': ['object'],
  ']': ['[', 'object'],
};

/**
 * Finds the objects of a JSON array in its bytes, however these are cut into pieces, and holds no more of them than one unfinished object.
 * It looks at braces and strings only: whether an object is JSON is for the parser to say.
 */
export class Splitter {
  #held: Buffer[] = [];
  #place: Place = 'start';
  #depth = 0;
  #quoted = false;
  /** The last byte was a backslash that escapes what comes next. */
  #escaped = false;

  /** True when what came so far is one array of objects from `[` to `]`. */
  get isWhole(): boolean {
    return this.#place === ']';
  }

  /** The objects that end in this piece, one by one. The next piece may follow when they were all taken. */
  *push(piece: Buffer): Generator<Buffer> {
    let start = 0;
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
        if (!WHITE.includes(byte)) this.#follow(String.fromCharCode(byte));
      } else if (byte === QUOTE) {
        this.#quoted = true;
      } else if (byte === CLOSE) {
        this.#depth -= 1;
        if (this.#depth > 0) continue;
        this.#follow('object');
        yield Buffer.concat([...this.#held, piece.subarray(start, at)]);
        this.#held = [];
      }
    }
    if (this.#depth > 0) this.#held.push(piece.subarray(start));
  }

  /** Where the string that goes on at `from` is over, or the piece is. */
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
    this.#place = isPlace(next) && FOLLOWS[next]?.includes(this.#place) ? next : 'broken';
  }
}

function isPlace(value: string): value is Place {
  return value in FOLLOWS;
}
