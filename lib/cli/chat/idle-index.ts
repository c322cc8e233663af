import type { Session } from '../../session/session.js';

/** So long after a turn nothing seems to be going on. Milliseconds. */
const IDLE = 1000;

/** Indexes a slice of what is not indexed yet while nothing goes on after a turn. */
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
      const { indexSlice } = await import('./index-slice.js');
      await indexSlice(this.#session);
    }, IDLE);
    this.#timer.unref();
  }
}
