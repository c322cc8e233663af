import type { Entry } from '../chat/entry.js';
import { systemCode } from '../errors.js';
import type { Finder, Recall } from '../recall/recall.js';
import type { Found, Hit, Reminded, Said, Search } from '../recall/search.js';
import { bookFiles, bookNamed, bookNames } from './book.js';
import type { Permit } from './consent.js';
import { recallOf, type SearchUse } from './open-book.js';

/** Finds messages of the conversation, by `own`, and of all books in a folder. */
export function searchBooksToo(own: Finder, folder: string, use: SearchUse, permit: Permit | null = null): Finder {
  return new BookFinder(own, folder, use, permit);
}

/** The search over one book. Opens nothing before the first call. Throws a `HiError` of code `usage` if there is no such book. */
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

  constructor(own: Finder, folder: string, use: SearchUse, permit: Permit | null = null) {
    this.#own = own;
    this.#folder = folder;
    this.#use = use;
    this.#permit = permit;
  }

  async search(search: Search, signal?: AbortSignal): Promise<Found> {
    const own = await this.#own.search(search, signal);
    const found: Found[] = [own];
    await this.#each(async (name, recall) => {
      const inBook = await recall.search(search, signal);
      if (inBook.hits.length > 0 && (await this.#may(name))) found.push(named(inBook, name));
    });
    return found.length === 1 ? own : merged(found, search);
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
    await this.#each(async (_name, recall) => {
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
    });
    return pieces;
  }

  async remind(...[asked, known, tokens, end]: Parameters<Finder['remind']>): Promise<Reminded | 'late'> {
    const own = await this.#own.remind(asked, known, tokens, end);
    // In a book nothing is in view, and its ids are its own.
    const inBook = { isSeen: () => false, isSaid: known.isSaid };
    const found: (readonly [book: string, Reminded])[] = [];
    await this.#each(async (book, recall) => {
      const more = await recall.remind(asked, inBook, tokens, end);
      if (more !== 'late' && more.reminders.length > 0) found.push([book, more]);
    });
    let all = own;
    // The user is asked when nothing is searched any more: an answer takes its time.
    for (const [book, more] of found) if (await this.#may(book)) all = together(all, book, more);
    return all;
  }

  async calibrate(budget: number, signal?: AbortSignal): Promise<boolean> {
    let isDone = await this.#own.calibrate(budget, signal);
    await this.#each(async (_name, recall) => {
      if (isDone) isDone = await recall.calibrate(budget, signal);
    });
    return isDone;
  }

  close(): void {
    this.#own.close();
    for (const recall of this.#books.values()) recall.close();
    this.#books.clear();
  }

  async #may(book: string): Promise<boolean> {
    return this.#permit === null || (await this.#permit.may(book));
  }

  get #open(): readonly string[] {
    return bookNames(this.#folder).filter((name) => this.#permit?.isClosed(name) !== true);
  }

  #recallOf(name: string): Recall {
    const recall = this.#books.get(name) ?? recallOf(bookFiles(this.#folder, name), this.#use);
    this.#books.set(name, recall);
    return recall;
  }

  /** Every book that can be read: one that was removed meanwhile, or is damaged, does not keep the others from being found. */
  async #each(work: (name: string, recall: Recall) => Promise<void>): Promise<void> {
    for (const name of this.#open) {
      const recall = this.#recallOf(name);
      try {
        await work(name, recall);
      } catch (thrown) {
        if (systemCode(thrown) !== 'ENOENT') throw thrown;
        recall.close();
        this.#books.delete(name);
      }
    }
  }
}

/** What was recalled so far, with that of a book. */
function together(all: Reminded | 'late', book: string, { reminders, best, thresholds }: Reminded): Reminded {
  const ofBook = reminders.map((one) => ({ ...one, book }));
  if (all === 'late') return { reminders: ofBook, best, thresholds };
  const sorted = [...all.reminders, ...ofBook].sort((one, other) => other.certainty - one.certainty);
  return { ...all, reminders: sorted, best: Math.max(best, all.best) };
}

const named = (found: Found, book: string): Found => ({
  ...found,
  hits: found.hits.map((hit) => ({
    ...hit,
    book,
    before: hit.before && { ...hit.before, book },
    after: hit.after && { ...hit.after, book },
  })),
});

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
