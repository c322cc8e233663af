/**
 * Packs the days of documents as runs: the number of documents with the same day, and the difference to the previous day. Odd numbers are negative differences.
 */
export function packDays(days: Uint16Array): Uint8Array {
  const bytes: number[] = [];
  for (let at = 0, last = 0; at < days.length; ) {
    const day = days[at] ?? 0;
    let end = at + 1;
    while (end < days.length && days[end] === day) end += 1;
    pushNumber(bytes, end - at);
    pushNumber(bytes, day >= last ? 2 * (day - last) : 2 * (last - day) - 1);
    [at, last] = [end, day];
  }
  return Uint8Array.from(bytes);
}

export function unpackDays(bytes: Uint8Array, count: number): Uint16Array {
  const days = new Uint16Array(count);
  const numbers = new NumberReader(bytes);
  for (let at = 0, day = 0; at < count && !numbers.isAtEnd; ) {
    const end = at + numbers.next();
    const step = numbers.next();
    day += step % 2 === 0 ? step / 2 : -(step + 1) / 2;
    days.fill(day, at, end);
    at = end;
  }
  return days;
}

/** The entry of a document: its id, and the position of its JSON in the content of the piece. */
export interface Spot {
  readonly id: number;
  readonly place: number;
}

/** The number of spots in a group, which is unpacked to find one of them. */
const GROUP = 32;

/** Packs the spots of the documents of one piece: the number of groups, their lengths, and the groups, each as differences to the previous spot. */
export function packSpots(spots: readonly Spot[]): Uint8Array {
  const groups: number[][] = [];
  for (let at = 0; at < spots.length; at += GROUP) groups.push(packedGroup(spots.slice(at, at + GROUP)));
  const head: number[] = [];
  for (const number of [groups.length, ...groups.map(({ length }) => length)]) pushNumber(head, number);
  return Uint8Array.from([head, ...groups].flat());
}

function packedGroup(spots: readonly Spot[]): number[] {
  const bytes: number[] = [];
  let last: Spot = { id: 0, place: 0 };
  for (const spot of spots) {
    pushNumber(bytes, spot.id - last.id);
    pushNumber(bytes, spot.place - last.place);
    last = spot;
  }
  return bytes;
}

/** The ids of the documents of one piece. */
export function unpackIds(bytes: Uint8Array): readonly number[] {
  const numbers = new NumberReader(bytes);
  const lengths = Array.from({ length: numbers.next() }, () => numbers.next());
  const ids: number[] = [];
  for (const length of lengths) {
    const end = numbers.at + length;
    for (let id = 0; numbers.at < end; numbers.next()) {
      id += numbers.next();
      ids.push(id);
    }
  }
  return ids;
}

/** The spot of the document with that number in its piece. */
export function unpackSpot(bytes: Uint8Array, number: number): Spot {
  const numbers = new NumberReader(bytes);
  const groups = numbers.next();
  let before = 0;
  for (let group = 0; group < groups; group += 1) {
    const length = numbers.next();
    if (group < Math.floor(number / GROUP)) before += length;
  }
  numbers.at += before;
  let id = 0;
  let place = 0;
  for (let index = 0; index <= number % GROUP; index += 1) {
    id += numbers.next();
    place += numbers.next();
  }
  return { id, place };
}

/** Appends a number of variable length: seven bits per byte, lowest first. */
export function pushNumber(bytes: number[], value: number): void {
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

/** Reads such numbers. */
export class NumberReader {
  readonly #bytes: Uint8Array;
  at: number;

  /** Begins at byte `at`. */
  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#bytes.length;
  }

  next(): number {
    const byte = this.#bytes[this.at++] ?? 0;
    return byte < 128 ? byte : this.#rest(byte & 127);
  }

  /** Reads the rest of a long number. Most are short, and V8 compiles them alone. */
  #rest(low: number): number {
    let value = low;
    for (let factor = 128; ; factor *= 128) {
      const byte = this.#bytes[this.at++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }
}
