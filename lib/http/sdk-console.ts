/** Receives the arguments of one console call. */
type Listener = (words: readonly unknown[]) => void;

const listeners = new Set<Listener>();

/**
 * Sends console output to `trace`, or discards it. The SDKs write to the console (a deprecated model, a line they
 * cannot parse), not all of them can be silenced, and the output would land in the middle of the screen. `hi` itself
 * never uses the console.
 */
export function quietConsole(trace?: (line: string) => void): void {
  for (const method of ['debug', 'info', 'log', 'warn', 'error'] as const) {
    console[method] = (...words: readonly unknown[]) => {
      for (const listener of listeners) listener(words);
      trace?.(`# ${words.map(String).join(' ')}`);
    };
  }
}

/**
 * Passes console output of the SDKs to `listener`, because they report some things nowhere else. Returns a function
 * that stops it.
 */
export function listenToConsole(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
