import { isMessage } from '../../chat/entry.js';
import type { ChatEvent } from '../../chat/event.js';
import { type Gap, writeRecord } from '../../compaction/rest-record.js';
import type { CompactionDeps, CompactionInput } from '../../compaction/strategy.js';
import type { HistoryStore } from '../../history/store.js';
import { ratioOf } from '../../view/measure.js';
import { isRestDue, pauseBefore, type Rest, type RestTimes, restSizes } from '../../view/rest.js';
import type { SessionDeps, Target } from '../common/deps.js';
import { cacheHints } from './cache-hints.js';

type RestDeps = Pick<SessionDeps, 'history' | 'settings'>;

/** The rest before a message that the user sends now; null if nothing leaves the view. */
export function restBefore(deps: RestDeps, target: Target): Rest | null {
  const { history } = deps;
  const pause = target.rest && pauseBefore(history.now(), history.entries, keptTimes(history, target.rest, target));
  const rest = pause ? restAfter(pause, deps, target) : null;
  return rest !== null && isRestDue(history.view(null), rest) ? rest : null;
}

/** The times of a rest where the last turn may have been marked to be kept for longer than usual. */
function keptTimes({ entries }: HistoryStore, times: RestTimes, { cache_rates }: Target): RestTimes {
  const { life } = cacheHints(null, entries, entries.findLast(isMessage)?.turn ?? null, cache_rates);
  return { ...times, cache_life: Math.max(times.cache_life, life ?? 0) };
}

/** The rest after a long pause from now; null if nothing ever rests. */
export const nextRest = (deps: RestDeps, target: Target): Rest | null => restAfter('long', deps, target);

function restAfter(pause: Rest['pause'], { history, settings }: RestDeps, target: Target): Rest | null {
  const sizes = restSizes(settings.view, target.context_window);
  if (target.rest === undefined || sizes === null) return null;
  return {
    pause,
    sizes,
    keep_recent: settings.compaction.keep_recent,
    ratio: ratioOf(history.view(null), target.model, target.memory.facts.token_ratio),
    unused: new Date(history.now().getTime() - target.rest.after).toISOString(),
  };
}

/** A summary of what left the view, which nobody waits for. */
export interface SummaryToWrite {
  readonly gap: Gap;
  readonly input: CompactionInput;
  /** The most tokens of prose. */
  readonly budget: number;
  readonly deps: CompactionDeps;
}

/**
 * The summaries of what left the view at a rest. They are written while nobody waits, one at a time, and take effect at
 * the next rest.
 */
export class RestSummaries {
  readonly #find: (upcoming: boolean) => Promise<SummaryToWrite | null>;
  #writing: { readonly stop: AbortController; readonly done: Promise<void> } | null = null;

  /**
   * `find` resolves to the summary that is missing, with `upcoming` also that of what would leave next; null for none.
   */
  constructor(find: (upcoming: boolean) => Promise<SummaryToWrite | null>) {
    this.#find = find;
  }

  /**
   * Begins to write the summary that is missing, if none is being written. A failure is no error: it is tried again
   * later.
   */
  begin(upcoming: boolean): void {
    if (this.#writing !== null) return;
    const stop = new AbortController();
    const done = this.#write(upcoming, stop.signal)
      .catch(() => undefined)
      .finally(() => {
        if (this.#writing?.stop === stop) this.#writing = null;
      });
    this.#writing = { stop, done };
  }

  /**
   * The events of an answer. While it arrives, once its first words are there, the missing summary is written if
   * `begins` is set.
   */
  async *beside<Outcome>(
    answer: AsyncGenerator<ChatEvent, Outcome>,
    begins: boolean,
  ): AsyncGenerator<ChatEvent, Outcome> {
    for (let isDue = begins; ; ) {
      const { done, value } = await answer.next();
      if (done) return value;
      if (value.type === 'text' && isDue) {
        isDue = false;
        this.begin(false);
      }
      yield value;
    }
  }

  /** Abandons the summary. Its finished parts are kept. */
  stop(): void {
    this.#writing?.stop.abort();
    this.#writing = null;
  }

  /** Resolves when the summary is written or, after so many milliseconds, abandoned. */
  async settle(patience: number): Promise<void> {
    if (this.#writing === null) return;
    const { done } = this.#writing;
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, patience);
    });
    await Promise.race([done, over]);
    clearTimeout(timer);
    this.stop();
  }

  async #write(upcoming: boolean, signal: AbortSignal): Promise<void> {
    const found = await this.#find(upcoming);
    if (found === null) return;
    signal.throwIfAborted();
    for await (const _ of writeRecord(found.gap, found.input, found.budget, found.deps, signal));
  }
}
