import { BEYOND, type DocumentList, type Postings } from './part.js';

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
