import { words } from '../words/words.js';
import { type Document, type IndexPart, KINDS, lengthCode, type Postings, wordsIn } from './part.js';
import { PostingsWriter } from './postings.js';

/** Indexes documents in memory, in order. */
export class Collector implements IndexPart {
  readonly #words = new Map<string, PostingsWriter>();
  readonly #kinds: number[] = [];
  readonly #lengths: number[] = [];
  readonly #days: number[] = [];

  add({ kind, day, text }: Pick<Document, 'kind' | 'day' | 'text'>): void {
    const document = this.#kinds.length;
    const frequencies = new Map<string, number>();
    const found = words(text);
    for (const word of found) frequencies.set(word, (frequencies.get(word) ?? 0) + 1);
    for (const [word, frequency] of frequencies) {
      let postings = this.#words.get(word);
      if (postings === undefined) {
        postings = new PostingsWriter();
        this.#words.set(word, postings);
      }
      postings.add(document, frequency);
    }
    this.#kinds.push(KINDS.indexOf(kind));
    this.#lengths.push(lengthCode(found.length));
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
    return this.#words.get(word) ?? null;
  }

  beginningWith(start: string, limit: number): readonly string[] {
    return [...this.#words.keys()].filter((word) => word.startsWith(start)).slice(0, limit);
  }

  endingWith(end: string, limit: number): readonly string[] {
    return [...this.#words.keys()].filter((word) => word.endsWith(end)).slice(0, limit);
  }

  /** All words with their documents. */
  entries(): Iterable<readonly [word: string, postings: PostingsWriter]> {
    return this.#words;
  }
}
