import type { Target } from '../../session/common/deps.js';
import type { RestSummaries } from '../../session/context/rest-summaries.js';

/** So long after an answer the user counts as away. Milliseconds. */
const AWAY = 3 * 60_000;

/** The longest time that a timer can wait, in milliseconds. */
const LONGEST = 2 ** 31 - 1;

/** A session, as far as it summarises while the user is away. */
interface Summarising {
  readonly restSummaries: RestSummaries;
  readonly target: Pick<Target, 'isNear' | 'isSingle' | 'rest'>;
}

/** Summarises what left the view, and what would leave next, while the user of a chat is away. */
export class AwaySummaries {
  readonly #session: Summarising;
  #timer: NodeJS.Timeout | undefined;

  constructor(session: Summarising) {
    this.#session = session;
  }

  /**
   * The prompt is up. A server with one place for a prompt would forget that of the conversation, so there it waits until the server has forgotten it
   * anyway.
   */
  begin(): void {
    clearTimeout(this.#timer);
    const { isSingle, rest } = this.#session.target;
    const delay = Math.max(AWAY, isSingle ? (rest?.cache_life ?? 0) : 0);
    if (delay > LONGEST) return;
    this.#timer = setTimeout(() => this.#session.restSummaries.begin(true), delay);
    this.#timer.unref();
  }

  /** The user is back. Where a question would have to wait for the summary, it is abandoned. */
  end(): void {
    clearTimeout(this.#timer);
    if (this.#session.target.isNear) this.#session.restSummaries.stop();
  }
}
