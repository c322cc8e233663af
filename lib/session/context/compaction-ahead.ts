import { type CompressBlock, type Entry, isCompressBlock, isMessage, type NewCompressBlock } from '../../chat/entry.js';
import type { ChatEvent, CompactionReport } from '../../chat/event.js';
import type { TextCache, TextModel } from '../../chat/request.js';
import { type Preview, preview, runStrategy, settled, writeAhead } from '../../compaction/run-strategy.js';
import type { CompactionDeps, CompactionInput } from '../../compaction/strategy.js';
import { HiError } from '../../errors.js';
import type { HistoryStore } from '../../history/store.js';
import { coversAll, isWhole, newestBlock, withoutWhole } from '../../view/view.js';
import { madeWithoutWhole } from './whole-view.js';

/** A compaction that is not due yet, and its input. */
export interface UpcomingCompaction {
  /** Identifies the conversation; differs after a reset. */
  readonly name: string | null;
  readonly input: CompactionInput;
  readonly deps: CompactionDeps;
}

/**
 * A compaction that will be due soon, written while the user reads and types. It is used when it is due, and discarded
 * if anything but messages was added to the conversation. Until then it exists only in memory.
 */
export class CompactionAhead {
  readonly #find: () => Promise<UpcomingCompaction | null>;
  #draft: Draft | null = null;
  /** The unreported usage of discarded drafts. */
  #unreported: readonly ChatEvent[] = [];

  /** `find` resolves to null while no compaction will be due soon. */
  constructor(find: () => Promise<UpcomingCompaction | null>) {
    this.#find = find;
  }

  /**
   * Starts a compaction that will be due soon, unless one exists. Never rejects: a failure recurs, and is reported,
   * when the compaction is due.
   */
  async begin(): Promise<void> {
    const found = await this.#find().catch(() => null);
    if (found === null || this.#draft?.isOf(found.name, found.input.entries)) return;
    this.drop();
    this.#draft = new Draft(found);
  }

  /** Discards the draft, and aborts the request that writes it. */
  drop(): void {
    if (this.#draft === null) return;
    this.#draft.stop();
    this.#unreported = [...this.#unreported, ...this.#draft.usage];
    this.#draft = null;
  }

  /**
   * A question is sent to a server nearby, which may answer one request at a time: an unfinished draft is abandoned,
   * and begun again after the answer.
   */
  makeWay(): void {
    if (this.#draft?.isWritten === false) this.drop();
  }

  /**
   * The draft for a compaction that is due now, once it is complete; null if there is none. An abort ends the waiting,
   * not the writing.
   */
  async *take(
    name: string | null,
    due: CompactionInput,
    signal: AbortSignal,
  ): AsyncGenerator<ChatEvent, NewCompressBlock | null> {
    const draft = this.#draft;
    if (draft === null || due.reason !== 'auto' || !draft.isOf(name, due.entries)) {
      this.drop();
      yield* this.#report();
      return null;
    }
    yield* this.#report();
    const block = yield* draft.follow(signal);
    this.#draft = null;
    if (block === null) return null;
    return settled(block, due);
  }

  *#report(): Generator<ChatEvent> {
    const events = this.#unreported;
    this.#unreported = [];
    yield* events;
  }
}

/** A compaction that is being written, or is complete. */
class Draft {
  readonly #name: string | null;
  readonly #last: Entry | undefined;
  readonly #block: CompressBlock | null;
  readonly #stop = new AbortController();
  #events: ChatEvent[] = [];
  #isFollowed = false;
  /** The result; undefined while it is being written. */
  #written: NewCompressBlock | null | undefined;
  #notify = (): void => undefined;

  constructor({ name, input, deps }: UpcomingCompaction) {
    this.#name = name;
    this.#last = input.entries.at(-1);
    this.#block = newestBlock(input.entries);
    void this.#write(input, deps);
  }

  get isWritten(): boolean {
    return this.#written !== undefined;
  }

  /** The usage of its requests so far. */
  get usage(): readonly ChatEvent[] {
    return this.#events.filter(({ type }) => type === 'usage');
  }

  /** Whether this conversation is the one it was written from, with nothing but messages added. */
  isOf(name: string | null, entries: readonly Entry[]): boolean {
    // A replaced file is read again, so its entries are different objects.
    const last = this.#last === undefined ? -1 : entries.lastIndexOf(this.#last);
    return (
      name === this.#name &&
      last >= 0 &&
      newestBlock(entries) === this.#block &&
      entries.slice(last + 1).every((entry) => isMessage(entry))
    );
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Yields its events, past and future, until it is written, and returns it; null if there is no result. */
  async *follow(signal: AbortSignal): AsyncGenerator<ChatEvent, NewCompressBlock | null> {
    if (this.#written === null) this.#events = [...this.usage];
    this.#isFollowed = true;
    const { promise: aborted, stop } = abortOf(signal);
    try {
      for (;;) {
        const changed = new Promise<void>((resolve) => {
          this.#notify = resolve;
        });
        while (this.#events.length > 0) yield* this.#events.splice(0, 1);
        if (this.#written !== undefined) return this.#written;
        await Promise.race([changed, aborted]);
      }
    } finally {
      stop();
      this.#isFollowed = false;
    }
  }

  async #write(input: CompactionInput, deps: CompactionDeps): Promise<void> {
    let written: NewCompressBlock | null = null;
    try {
      const steps = writeAhead(input, deps, this.#stop.signal);
      for (let step = await steps.next(); ; step = await steps.next()) {
        if (step.done) {
          written = step.value;
          break;
        }
        if (step.value.type !== 'compact-progress' || this.#isFollowed) this.#events.push(step.value);
        this.#notify();
      }
    } catch {
      // The compaction is tried again when it is due, and reports the error then.
    }
    this.#written = written;
    this.#notify();
  }
}

/** Rejects when the signal aborts; `stop` removes the listener. */
function abortOf(signal: AbortSignal): { readonly promise: Promise<never>; readonly stop: () => void } {
  let stop = (): void => undefined;
  const promise = new Promise<never>((_, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    stop = () => signal.removeEventListener('abort', onAbort);
  });
  promise.catch(() => undefined);
  return { promise, stop };
}

/** How a compaction is requested: manually with options, or because it is due. */
export interface CompactionOrder {
  readonly reason: 'auto' | 'manual' | 'overflow';
  readonly focus: string | null;
  /** A strategy instead of the configured one. */
  readonly strategy: string | null;
  /** Whether the summary covers everything that was said, also what no summary covers yet. */
  readonly all?: boolean;
}

/** The input of a compaction without the part that comes from the history. */
export type OrderedCompaction = Omit<CompactionInput, 'entries' | 'unloaded'>;

/**
 * Runs one compaction of the history, or uses a draft written ahead. Yields its events, ending with `compact`; returns
 * what was done, or null if there was nothing to do.
 */
export async function* compactHistory(
  history: HistoryStore,
  ordered: OrderedCompaction,
  deps: CompactionDeps,
  signal: AbortSignal,
  ahead: CompactionAhead | null = null,
): AsyncGenerator<ChatEvent, CompactionReport | null> {
  const known = newestBlock(history.entries)?.id;
  return yield* history.compact(
    ordered.running,
    async function* (entries, running, unloaded) {
      // Another process may have compacted in the meantime.
      if (ordered.reason === 'auto' && newestBlock(entries)?.id !== known) return null;
      const current = whileCurrent(history, deps);
      return yield* madeWithoutWhole({ ...ordered, entries, running }, async function* (made) {
        const input = ordered.all
          ? { ...ordered, entries: await wholeOf(history), running, unloaded: 0 }
          : { ...ordered, entries: made, running, unloaded };
        const written = ahead === null ? null : yield* ahead.take(history.name, input, signal);
        return written ?? (yield* runStrategy(input, current, signal));
      });
    },
    ordered.settings.archive,
    signal,
  );
}

/** What a compaction would do, without asking a model. Null if there is nothing to compact. */
export async function previewCompaction(history: HistoryStore, ordered: OrderedCompaction): Promise<Preview | null> {
  const { entries, unloaded } = history;
  if (ordered.all) return preview({ ...ordered, entries: await wholeOf(history), unloaded: 0 });
  return preview({ ...ordered, entries: withoutWhole(entries), unloaded });
}

/** The whole conversation, with the blocks up to the newest one whose text covers everything before its cut. */
async function wholeOf(history: HistoryStore): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of history.conversation()) if (!isWhole(entry)) entries.push(entry);
  const covering = entries.findLast((entry) => isCompressBlock(entry) && coversAll(entry))?.id ?? 0;
  return entries.filter((entry) => !isCompressBlock(entry) || entry.id <= covering);
}

/**
 * The same, but once something of what is compacted is gone from the conversation, no more of it is sent, and no
 * summary of it is cached.
 */
export function whileCurrent(history: HistoryStore, { models, cache, effects }: CompactionDeps): CompactionDeps {
  const { edition } = history;
  return {
    models: models.map((model) => askedWhile(model, history, edition)),
    cache: storedWhile(cache, history, edition),
    effects,
  };
}

function askedWhile(model: TextModel, history: HistoryStore, edition: number): TextModel {
  return {
    ...model,
    get context_window() {
      return model.context_window;
    },
    async write(prompt, onProgress, signal) {
      if (await history.isCurrent(edition)) return await model.write(prompt, onProgress, signal);
      throw new HiError('history', 'A part of the conversation was removed in the meantime.');
    },
  };
}

/** A cache that cannot be written is not an error. */
function ignoredHistoryError(thrown: unknown): void {
  if (!(thrown instanceof HiError)) throw thrown;
}

/**
 * The same cache, but what is derived from a conversation in that edition is stored only while it is current, and under
 * its lock.
 */
export function storedWhile(cache: TextCache, history: HistoryStore, edition: number): TextCache {
  return {
    get: (key) => cache.get(key),
    async put(key, text) {
      // Nothing is on disk then.
      if (!history.isKept) return await cache.put(key, text);
      let stored: Promise<void> | null = null;
      const store = (): void => {
        stored = cache.put(key, text);
      };
      await history.ifCurrent(edition, store).catch(ignoredHistoryError);
      await stored;
    },
  };
}
