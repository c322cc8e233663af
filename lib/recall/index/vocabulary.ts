import { eachPiece } from '../words/each-piece.js';
import { plainWord, unshared, wordsOf } from '../words/words.js';
import { PlainWords } from './plain-words.js';

/** The number of cached chunks from which a new vocabulary is better. */
const KEPT = 16_000;

/** The code of a stop word, which has no number. */
const STOP = -1;

/** Numbers words from 0 on, and caches the numbers of the words in each chunk, because most chunks occur again. */
export class Vocabulary {
  readonly #words: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #plain = new PlainWords();
  readonly #others = new Map<string, readonly number[]>();

  /** The number of words. */
  get size(): number {
    return this.#words.length;
  }

  /** True if a new vocabulary is better. */
  get isFull(): boolean {
    return this.#plain.size + this.#others.size > KEPT;
  }

  /** The word with that number. */
  word(number: number): string {
    return this.#words[number] ?? '';
  }

  /** The number of a word, null for an unknown one. */
  find(word: string): number | null {
    return this.#numbers.get(word) ?? null;
  }

  /** Calls `found` with the number of each word of a text, in order. */
  each(text: string, found: (number: number) => void): void {
    eachPiece(
      text,
      (at, end) => {
        const number = this.#plain.find(text, at, end, this.#learn);
        if (number !== STOP) found(number);
      },
      (at, end) => {
        for (const number of this.#ofOther(text.slice(at, end))) found(number);
      },
    );
  }

  readonly #learn = (piece: string): number => {
    const word = plainWord(piece);
    return word === null ? STOP : this.#numberOf(unshared(word));
  };

  #ofOther(piece: string): readonly number[] {
    const known = this.#others.get(piece);
    if (known !== undefined) return known;
    const own = unshared(piece);
    const numbers = wordsOf(own).map((word) => this.#numberOf(word));
    this.#others.set(own, numbers);
    return numbers;
  }

  #numberOf(word: string): number {
    const known = this.#numbers.get(word);
    if (known !== undefined) return known;
    const number = this.#words.length;
    this.#words.push(word);
    this.#numbers.set(word, number);
    return number;
  }
}
