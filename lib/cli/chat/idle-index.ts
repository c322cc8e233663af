import type { Session } from '../../session/session.js';
import { indexSlice } from './index-slice.js';

/** How long after a turn the chat counts as idle. Milliseconds. */
const IDLE = 1000;

/** Indexes new messages in slices while the chat is idle. */
export class IdleIndex {
  readonly #session: Session;
  #timer: NodeJS.Timeout | null = null;

  constructor(session: Session) {
    this.#session = session;
  }

  /** A turn begins. */
  wait(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** A turn is over. */
  begin(): void {
    this.wait();
    this.#timer = setTimeout(async () => {
      await indexSlice(this.#session);
    }, IDLE);
    this.#timer.unref();
  }
}
