import { withRoom } from './growing.js';
import { type Document, type IndexPart, KINDS, lengthCode, type Postings, wordsIn } from './part.js';
import { RepeatedDocuments } from './postings.js';
import { Vocabulary } from './vocabulary.js';

/** The documents of all words, word after word, and the offset for each word. */
interface Sorted {
  readonly starts: Int32Array;
  readonly documents: Uint32Array;
}

/** Indexes documents in memory, in order. Words are stored in text order, and sorted before the first lookup. */
export class Collector implements IndexPart {
  readonly #vocabulary: Vocabulary;
  /** The numbers of the words of all documents, and the end of each document. */
  #numbers = new Int32Array(1024);
  readonly #ends: number[] = [];
  #length = 0;
  #sorted: Sorted | null = null;
  readonly #kinds: number[] = [];
  readonly #lengths: number[] = [];
  readonly #days: number[] = [];

  /** `vocabulary` may be shared with other collectors, which saves time when indexing much text. */
  constructor(vocabulary: Vocabulary = new Vocabulary()) {
    this.#vocabulary = vocabulary;
  }

  add({ kind, day, text }: Pick<Document, 'kind' | 'day' | 'text'>): void {
    const start = this.#length;
    this.#vocabulary.each(text, this.#take);
    this.#ends.push(this.#length);
    this.#sorted = null;
    this.#kinds.push(KINDS.indexOf(kind));
    this.#lengths.push(lengthCode(this.#length - start));
    this.#days.push(Math.max(0, Math.min(65_535, day)));
  }

  get count(): number {
    return this.#kinds.length;
  }

  kinds(): Uint8Array {
    return Uint8Array.from(this.#kinds);
  }

  lengths(): Uint8Array {
    return Uint8Array.from(this.#lengths);
  }

  wordCount(): number {
    return wordsIn(this.lengths());
  }

  days(): Uint16Array {
    return Uint16Array.from(this.#days);
  }

  find(word: string): Postings | null {
    const number = this.#vocabulary.find(word);
    return number === null ? null : this.#postingsOf(number);
  }

  beginningWith(start: string, limit: number): readonly string[] {
    return this.#wordsThat((word) => word.startsWith(start), limit);
  }

  endingWith(end: string, limit: number): readonly string[] {
    return this.#wordsThat((word) => word.endsWith(end), limit);
  }

  /** All words with their documents. */
  *entries(): Generator<readonly [word: string, postings: RepeatedDocuments]> {
    for (let number = 0; number < this.#vocabulary.size; number += 1) {
      const postings = this.#postingsOf(number);
      if (postings !== null) yield [this.#vocabulary.word(number), postings];
    }
  }

  readonly #take = (number: number): void => {
    this.#numbers = withRoom(this.#numbers, this.#length + 1);
    this.#numbers[this.#length++] = number;
  };

  #wordsThat(fits: (word: string) => boolean, limit: number): readonly string[] {
    const words = Array.from(this.entries(), ([word]) => word);
    return words.filter(fits).slice(0, limit);
  }

  #postingsOf(number: number): RepeatedDocuments | null {
    this.#sorted ??= this.#sort();
    const { starts, documents } = this.#sorted;
    const [start, end] = [starts[number] ?? 0, starts[number + 1] ?? 0];
    return start < end ? new RepeatedDocuments(documents.subarray(start, end)) : null;
  }

  #sort(): Sorted {
    const numbers = this.#numbers;
    const starts = new Int32Array(this.#vocabulary.size + 1);
    for (let at = 0; at < this.#length; at += 1)
      starts[(numbers[at] ?? 0) + 1] = (starts[(numbers[at] ?? 0) + 1] ?? 0) + 1;
    for (let number = 1; number < starts.length; number += 1)
      starts[number] = (starts[number] ?? 0) + (starts[number - 1] ?? 0);
    const next = starts.slice();
    const documents = new Uint32Array(this.#length);
    let at = 0;
    for (const [document, end] of this.#ends.entries()) {
      for (; at < end; at += 1) {
        const number = numbers[at] ?? 0;
        const place = next[number] ?? 0;
        next[number] = place + 1;
        documents[place] = document;
      }
    }
    return { starts, documents };
  }
}
