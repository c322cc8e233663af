/** The kinds of messages, by the origin of their words. */
export const KINDS = ['user', 'model', 'call', 'tool', 'note', 'attached', 'foreign'] as const;

/**
 * `call` is a tool call without text, `tool` the result of a tool, `note` the output of a command that the user ran,
 * `attached` a message of the user with files or input, `foreign` an answer of the model after reading text that
 * neither it nor the user wrote.
 */
export type Kind = (typeof KINDS)[number];

/** The kinds that the message itself shows. */
export type PlainKind = Exclude<Kind, 'attached' | 'foreign'>;

/** The searchable form of one message. */
export interface Document {
  readonly kind: Kind;
  /** Days since 1970, UTC. */
  readonly day: number;
  /** The position of its JSON in the content of its frame. */
  readonly place: number;
  /** Its searchable text. */
  readonly text: string;
}

/** A limit above all documents. Not infinity, which is not an integer. */
export const BEYOND: number = 2 ** 31 - 1;

/** The documents that contain a word with the same frequency, in ascending order. */
export interface DocumentList {
  /** The code of the frequency, see `FREQUENCIES`. */
  readonly code: number;
  /** Contains the documents read last, from `first` on, until the next read of any list. */
  readonly documents: Uint32Array;
  readonly first: number;
  /** Reads the next documents below `limit`, and returns their number. */
  readBelow(limit: number): number;
}

/** The documents that contain a word. */
export interface Postings {
  /** The number of documents. */
  readonly count: number;
  /** All documents, one list for each frequency. The lists are valid until the arena is cleared. Throws read errors. */
  lists(arena: Arena): readonly DocumentList[];
}

/** A run of documents with an index of their words, on disk or in memory. Documents are numbered from 0. */
export interface IndexPart {
  readonly count: number;
  /**
   * By document: the index of its kind in `KINDS`, and its `lengthCode`. They are valid until the next call of any
   * part.
   */
  kinds(): Uint8Array;
  lengths(): Uint8Array;
  /** The total number of words, according to `wordsIn`. */
  wordCount(): number;
  /** By the index of a kind in `KINDS`, the number of its documents. */
  kindCounts(): ArrayLike<number>;
  /** By document, days since 1970. */
  days(): Uint16Array;
  /** The documents that contain the word, null for none. */
  find(word: string): Postings | null;
  /** At most `limit` words with this beginning. */
  beginningWith(start: string, limit: number): readonly string[];
  /** At most `limit` words with this ending. Goes through all words. */
  endingWith(end: string, limit: number): readonly string[];
}

/** The number of steps per doubling of the length. */
const STEPS = 16;

/** Encodes a number of words in one byte. */
export function lengthCode(length: number): number {
  return Math.min(255, Math.round(Math.log2(length + 1) * STEPS));
}

/** The number of words for each code. */
export const LENGTHS: Float32Array = Float32Array.from({ length: 256 }, (_, code) => 2 ** (code / STEPS) - 1);

/** The total number of words of documents with these lengths. The result does not depend on their order. */
export function wordsIn(lengths: Uint8Array): number {
  return countsOf(lengths).reduce((sum, count, code) => sum + count * (LENGTHS[code] ?? 0), 0);
}

/** The number of occurrences of each byte value. */
export function countsOf(bytes: Uint8Array): Uint32Array {
  const counts = new Uint32Array(256);
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    counts[byte] = (counts[byte] ?? 0) + 1;
  }
  return counts;
}

/** The alignment of allocations, in bytes. */
export const PAGE = 4096;

/** The minimum size. */
const LEAST = 64 * PAGE;

/** Reusable memory for short-lived data. New buffers and views for each read would stay until they are collected. */
export class Arena {
  #bytes = Buffer.allocUnsafeSlow(0);
  #pages: Buffer[] = [];
  #used = 0;

  /**
   * The buffer of the last allocation. Earlier allocations may be in older buffers, which live as long as they are
   * referenced.
   */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** Allocates `size` bytes of `bytes`, valid until `clear`, and returns their offset, which is aligned to a page. */
  take(size: number): number {
    if (this.#used + size > this.#bytes.length) {
      const length = Math.max(LEAST, 2 * this.#bytes.length, Math.ceil(size / PAGE) * PAGE);
      this.#bytes = Buffer.allocUnsafeSlow(length);
      this.#pages = [];
      this.#used = 0;
    }
    const start = this.#used;
    this.#used = Math.ceil((start + size) / PAGE) * PAGE;
    return start;
  }

  /** The page of `bytes` at that offset. */
  page(start: number): Buffer {
    this.#pages[start / PAGE] ??= this.#bytes.subarray(start, start + PAGE);
    return this.#pages[start / PAGE] ?? this.#bytes;
  }

  /** Frees all allocations. */
  clear(): void {
    this.#used = 0;
  }
}

/** The array itself, or a longer copy if it has less than this length. */
export function withRoom<Kind extends Int32Array | Uint8Array>(numbers: Kind, length: number): Kind;
export function withRoom(numbers: Int32Array | Uint8Array, length: number): Int32Array | Uint8Array {
  if (length <= numbers.length) return numbers;
  const room = Math.max(length, 2 * numbers.length);
  const larger = numbers instanceof Uint8Array ? new Uint8Array(room) : new Int32Array(room);
  larger.set(numbers);
  return larger;
}

/** The frequency of a word in a document, by its two-bit code. */
export const FREQUENCIES: Float32Array = Float32Array.of(1, 2, 3.5, 6);

const frequencyCode = (frequency: number): number => (frequency < 3 ? frequency - 1 : frequency < 5 ? 2 : 3);

/** The documents of a word in memory, in ascending order. Each is repeated as often as it contains the word. */
export class RepeatedDocuments implements Postings {
  readonly #documents: Uint32Array;

  constructor(documents: Uint32Array) {
    this.#documents = documents;
  }

  get count(): number {
    gathered.clear();
    this.addTo(gathered);
    return gathered.count;
  }

  lists(): readonly DocumentList[] {
    gathered.clear();
    this.addTo(gathered);
    return gathered.lists();
  }

  /** Adds the documents to lists. */
  addTo(lists: FrequencyLists): void {
    const documents = this.#documents;
    for (let at = 0; at < documents.length; ) {
      const document = documents[at] ?? 0;
      const first = at;
      while (documents[at] === document) at += 1;
      lists.add(document, frequencyCode(at - first));
    }
  }
}

/** The documents of a word, in reusable lists, one for each frequency code. */
export class FrequencyLists implements Postings {
  readonly #lists = Array.from(FREQUENCIES, () => new Uint32Array(16));
  readonly #lengths = new Uint32Array(FREQUENCIES.length);
  count = 0;

  clear(): void {
    this.#lengths.fill(0);
    this.count = 0;
  }

  add(document: number, code: number): void {
    const length = this.#lengths[code] ?? 0;
    this.#room(code, length + 1)[length] = document;
    this.#lengths[code] = length + 1;
    this.count += 1;
  }

  /** The buffer of a list, whose unused rest must be ignored. */
  documentsOf(code: number): Uint32Array {
    return this.#room(code, 0);
  }

  lengthOf(code: number): number {
    return this.#lengths[code] ?? 0;
  }

  /** Adds the rest of a list, with its documents numbered from `start`. */
  addAll(added: DocumentList, start: number): void {
    const { code } = added;
    const count = added.readBelow(BEYOND);
    const { documents, first } = added;
    const length = this.#lengths[code] ?? 0;
    const list = this.#room(code, length + count);
    for (let index = 0; index < count; index += 1) list[length + index] = start + (documents[first + index] ?? 0);
    this.#lengths[code] = length + count;
    this.count += count;
  }

  /** A snapshot, one list for each frequency code in use. */
  lists(): readonly DocumentList[] {
    const found: DocumentList[] = [];
    for (let code = 0; code < FREQUENCIES.length; code += 1) {
      const length = this.lengthOf(code);
      if (length > 0) found.push(new PlainList(code, this.documentsOf(code).slice(0, length)));
    }
    return found;
  }

  #room(code: number, length: number): Uint32Array {
    const list = this.#lists[code] ?? new Uint32Array();
    if (length <= list.length) return list;
    const larger = new Uint32Array(2 * length);
    larger.set(list);
    this.#lists[code] = larger;
    return larger;
  }
}

/** The lists for the documents of a word. */
const gathered = new FrequencyLists();

/** A list in memory. */
class PlainList implements DocumentList {
  readonly code: number;
  readonly documents: Uint32Array;
  first = 0;
  #next = 0;

  constructor(code: number, documents: Uint32Array) {
    this.code = code;
    this.documents = documents;
  }

  readBelow(limit: number): number {
    this.first = this.#next;
    while (this.#next < this.documents.length && (this.documents[this.#next] ?? limit) < limit) this.#next += 1;
    return this.#next - this.first;
  }
}
