/** Keeps what comes while something is looked up, so that it is done after it; not for longer than `patience` milliseconds. */
export class DeferredKeys {
  readonly #patience: number;
  /** Called when the patience is at an end. */
  readonly #release: () => void;
  #acts: (() => void)[] | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeout: number, release: () => void) {
    this.#patience = timeout;
    this.#release = release;
  }

  begin(): void {
    this.#acts = [];
    this.#timer = setTimeout(this.#release, this.#patience);
  }

  /** Keeps the act and returns true while something is looked up; otherwise the act is the caller's to do. */
  keeps(act: () => void): boolean {
    this.#acts?.push(act);
    return this.#acts !== null;
  }

  /** Does what was kept, in order. One of the acts may begin a new hold, which then keeps the ones after it. */
  end(): void {
    clearTimeout(this.#timer);
    const acts = this.#acts ?? [];
    this.#acts = null;
    for (const act of acts) act();
  }
}
