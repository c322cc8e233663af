import type { Session } from '../../session/session.js';

/** How full the window is. Measured when it is asked for, and again after an input. */
export class WindowUsage {
  readonly #session: Session;
  #used: number | null = null;

  constructor(session: Session) {
    this.#session = session;
  }

  async read(): Promise<number> {
    this.#used ??= (await this.#session.status(new AbortController().signal)).used;
    return this.#used;
  }

  expire(): void {
    this.#used = null;
  }
}
