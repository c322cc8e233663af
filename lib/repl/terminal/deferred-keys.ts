/** Defers keys while a lookup runs, so that they are handled after it, but for no longer than `timeout` milliseconds. */
export class DeferredKeys {
  readonly #timeout: number;
  readonly #onTimeout: () => void;
  #actions: (() => void)[] | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeout: number, onTimeout: () => void) {
    this.#timeout = timeout;
    this.#onTimeout = onTimeout;
  }

  begin(): void {
    this.#actions = [];
    this.#timer = setTimeout(this.#onTimeout, this.#timeout);
  }

  /** Defers the action and returns true while a lookup runs. Otherwise returns false, and the caller acts now. */
  defer(action: () => void): boolean {
    this.#actions?.push(action);
    return this.#actions !== null;
  }

  /** Runs the deferred actions in order. One of them may call `begin`, which defers the ones after it again. */
  end(): void {
    clearTimeout(this.#timer);
    const actions = this.#actions ?? [];
    this.#actions = null;
    for (const action of actions) action();
  }
}
