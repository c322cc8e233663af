/** Takes the arguments of one call of the console. */
type Listener = (words: readonly unknown[]) => void;

const listeners = new Set<Listener>();

/**
 * Sends console output to `trace`, or discards it. The SDKs write there (a deprecated model, a line they cannot parse) and not all of them can be silenced;
 * in a terminal program it lands in the middle of the screen. `hi` itself never uses the console.
 */
export function quietConsole(trace?: (line: string) => void): void {
  for (const method of ['debug', 'info', 'log', 'warn', 'error'] as const) {
    console[method] = (...words: readonly unknown[]) => {
      for (const listener of listeners) listener(words);
      trace?.(`# ${words.map(String).join(' ')}`);
    };
  }
}

/** Passes what the SDKs write on the quiet console to `listener`, for what they report nowhere else. Returns a function that stops it. */
export function listenToConsole(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
