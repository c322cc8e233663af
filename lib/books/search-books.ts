import type { Entry } from '../chat/entry.js';
import { systemCode } from '../errors.js';
import { Damaged } from '../history/file/frames.js';
import type { Finder, Recall } from '../recall/recall.js';
import type { Found, Hit, Reminded, Said, Search } from '../recall/search.js';
import { SeveralRecalls } from '../recall/several.js';
import { bookFiles, bookNamed, bookNames } from './book.js';
import type { Permit } from './consent.js';
import { recallOf, type SearchUse } from './open-book.js';

/** Finds messages of the conversation, by `own`, and of all books in a folder. */
export function searchBooksToo(own: Finder, folder: string, use: SearchUse, permit: Permit | null = null): Finder {
  return new BookFinder(own, folder, use, permit);
}

/**
 * The search over one book. Opens nothing before the first call. Throws a `HiError` of code `usage` if there is no such
 * book.
 */
export function searchOfBook(folder: string, name: string, use: SearchUse): Finder {
  return recallOf(bookNamed(folder, name), use);
}

/** Finds messages of the conversation and of all books. What `permit` refuses is not found. */
class BookFinder implements Finder {
  readonly #own: Finder;
  readonly #folder: string;
  readonly #use: SearchUse;
  readonly #permit: Permit | null;
  readonly #books = new Map<string, Recall>();
  readonly #together = new SeveralRecalls((recall, thrown) => this.#leaveOut(recall, thrown));

  constructor(own: Finder, folder: string, use: SearchUse, permit: Permit | null = null) {
    this.#own = own;
    this.#folder = folder;
    this.#use = use;
    this.#permit = permit;
  }

  async search(search: Search, signal?: AbortSignal): Promise<Found> {
    const own = await this.#own.search(search, signal);
    const inBooks = await this.#together.search(
      this.#open.map((name) => this.#recallOf(name)),
      search,
      signal,
    );
    if (inBooks === null) return own;
    const refused = await this.#refused(inBooks.hits);
    const hits = inBooks.hits.filter(({ book = '' }) => !refused.has(book));
    return hits.length === 0 ? own : merged([own, { ...inBooks, hits }], search);
  }

  async around(id: number, before: number, after: number): Promise<readonly Said[]> {
    return await this.#own.around(id, before, after);
  }

  async placeOf(id: number, reach: number, book: string | null = null): Promise<readonly Entry[]> {
    if (book === null) return await this.#own.placeOf(id, reach);
    let found: readonly Entry[] = [];
    await this.#each(async (name, recall) => {
      if (name === book) found = await recall.placeOf(id, reach);
    });
    return found;
  }

  async catchUp(budget: number): Promise<number> {
    let left = await this.#own.catchUp(budget);
    await this.#eachUnready(async (recall) => {
      if (left === 0) left = await recall.catchUp(budget);
    });
    return left;
  }

  async *indexAll(signal: AbortSignal): AsyncGenerator<number> {
    yield* this.#own.indexAll(signal);
    for (const name of this.#open) yield* this.#recallOf(name).indexAll(signal);
  }

  async rebuild(signal: AbortSignal): Promise<number> {
    let pieces = await this.#own.rebuild(signal);
    await this.#each(async (_name, recall) => {
      pieces += await recall.rebuild(signal);
      await recall.join();
    });
    return pieces;
  }

  async remind(...[asked, known, tokens, end]: Parameters<Finder['remind']>): Promise<Reminded | 'late'> {
    const own = await this.#own.remind(asked, known, tokens, end);
    // In a book nothing is in view, and its ids are its own.
    const inBook = { isSeen: () => false, isSaid: known.isSaid };
    const books = this.#open.map((name) => this.#recallOf(name));
    const found = await this.#together.remind(books, asked, inBook, tokens, end);
    if (found === null) return own;
    const refused = await this.#refused(found.reminders);
    return together(own, { ...found, reminders: found.reminders.filter(({ book = '' }) => !refused.has(book)) });
  }

  async calibrate(budget: number, signal?: AbortSignal): Promise<boolean> {
    let isDone = await this.#own.calibrate(budget, signal);
    await this.#eachUnready(async (recall) => {
      if (isDone) isDone = await recall.calibrate(budget, signal);
    });
    return isDone;
  }

  close(): void {
    this.#own.close();
    for (const recall of this.#books.values()) recall.close();
    this.#books.clear();
  }

  /**
   * The books of these messages of which the user lets nothing be used, each asked for once: when nothing is searched
   * any more, for an answer takes its time.
   */
  async #refused(found: readonly Pick<Said, 'book'>[]): Promise<ReadonlySet<string>> {
    const refused = new Set<string>();
    for (const book of new Set(found.map((one) => one.book ?? '')))
      if (this.#permit !== null && !(await this.#permit.may(book))) refused.add(book);
    return refused;
  }

  get #open(): readonly string[] {
    return bookNames(this.#folder).filter((name) => this.#permit?.isClosed(name) !== true);
  }

  #recallOf(name: string): Recall {
    const recall = this.#books.get(name) ?? recallOf(bookFiles(this.#folder, name), this.#use);
    this.#books.set(name, recall);
    return recall;
  }

  /** Every book that was opened and of which something is left to be indexed or measured: nothing of a book changes. */
  async #eachUnready(work: (recall: Recall) => Promise<void>): Promise<void> {
    for (const recall of [...this.#books.values()])
      if (!recall.isReady) await this.#unlessUnreadable(recall, async () => await work(recall));
  }

  /** Every book that can be read. */
  async #each(work: (name: string, recall: Recall) => Promise<void>): Promise<void> {
    for (const name of this.#open) {
      const recall = this.#recallOf(name);
      await this.#unlessUnreadable(recall, async () => await work(name, recall));
    }
  }

  async #unlessUnreadable(recall: Recall, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (thrown) {
      if (!this.#leaveOut(recall, thrown)) throw thrown;
    }
  }

  /**
   * Leaves out a book that was removed meanwhile, or is damaged: it does not keep the others from being found. False
   * for any other failure.
   */
  #leaveOut(recall: Recall, thrown: unknown): boolean {
    if (systemCode(thrown) !== 'ENOENT' && !(thrown instanceof Damaged)) return false;
    recall.close();
    for (const [name, known] of this.#books) if (known === recall) this.#books.delete(name);
    return true;
  }
}

/** What was recalled of the conversation, and of books. */
function together(own: Reminded | 'late', inBooks: Reminded): Reminded {
  if (own === 'late') return inBooks;
  if (inBooks.reminders.length === 0) return own;
  const reminders = [...own.reminders, ...inBooks.reminders].sort((one, other) => other.certainty - one.certainty);
  return { ...own, reminders, best: Math.max(own.best, inBooks.best) };
}

/** The best of all, each list in its own order; of a period, the newest of all, oldest first. */
function merged(all: readonly Found[], { query, count }: Search): Found {
  const hits = query.trim() === '' ? newestOf(all, count) : bestOf(all, count);
  const left = all.reduce((sum, one) => sum + one.hits.length, 0) - hits.length;
  const more = all.reduce((sum, one) => sum + one.more, left);
  const unsearched = all.reduce((most, one) => Math.max(most, one.unsearched), 0);
  return { hits, more, unsearched, isWhole: all.some((one) => one.isWhole && one.hits.length > 0) };
}

function newestOf(all: readonly Found[], count: number): readonly Hit[] {
  const hits = all.flatMap((one) => one.hits);
  return hits.sort((one, other) => Date.parse(one.message.at) - Date.parse(other.message.at)).slice(-count);
}

function bestOf(all: readonly Found[], count: number): readonly Hit[] {
  const ranked = all.flatMap(({ hits }) => {
    let least = Number.POSITIVE_INFINITY;
    return hits.map((hit) => {
      least = Math.min(least, hit.certainty);
      return { hit, certainty: least };
    });
  });
  return ranked
    .sort((one, other) => other.certainty - one.certainty)
    .slice(0, count)
    .map(({ hit }) => hit);
}
