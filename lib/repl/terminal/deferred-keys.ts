/** Holds keys back while a lookup runs, so that they are handled after it, but for at most `timeout` milliseconds. */
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

  /** Runs the deferred actions in order. If one of them calls `begin`, those after it are deferred again. */
  end(): void {
    clearTimeout(this.#timer);
    const actions = this.#actions ?? [];
    this.#actions = null;
    for (const action of actions) action();
  }
}
