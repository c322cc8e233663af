import type { Target } from '../../session/common/deps.js';
import type { RestSummaries } from '../../session/context/rest-summaries.js';
import type { Session } from '../../session/session.js';
import { indexSlice } from '../wiring/index-slice.js';

/** How long after a turn the chat counts as idle. Milliseconds. */
const IDLE = 1000;

/** Indexes new messages in slices while the chat is idle. */
export class IdleIndex {
  readonly #session: Session;
  #timer: NodeJS.Timeout | null = null;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Called when a turn begins. */
  wait(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Called when a turn has ended. */
  begin(): void {
    this.wait();
    this.#timer = setTimeout(async () => {
      await indexSlice(this.#session);
    }, IDLE);
    this.#timer.unref();
  }
}

/** The time after an answer until the user counts as away, in milliseconds. */
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
   * Called when the prompt is shown. A server that caches only one prompt would lose that of the conversation, so
   * there the summary waits until the server has dropped it anyway.
   */
  begin(): void {
    clearTimeout(this.#timer);
    const { isSingle, rest } = this.#session.target;
    const delay = Math.max(AWAY, isSingle ? (rest?.cache_life ?? 0) : 0);
    if (delay > LONGEST) return;
    this.#timer = setTimeout(() => this.#session.restSummaries.begin(true), delay);
    this.#timer.unref();
  }

  /** Called when the user is back. Where a question would have to wait for the summary, it is abandoned. */
  end(): void {
    clearTimeout(this.#timer);
    if (this.#session.target.isNear) this.#session.restSummaries.stop();
  }
}
