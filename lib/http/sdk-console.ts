/** What an SDK wrote on the console in one go. */
type Heard = (words: readonly unknown[]) => void;

const listeners = new Set<Heard>();

/**
 * Sends what is written on the console to `trace`, or nowhere. The SDKs write there (a model near its end, a line they cannot parse) and not
 * all can be told otherwise; in a terminal program it lands in the middle of the screen. `hi` itself never uses the console.
 */
export function quietConsole(trace?: (line: string) => void): void {
  for (const method of ['debug', 'info', 'log', 'warn', 'error'] as const) {
    console[method] = (...words: readonly unknown[]) => {
      for (const listener of listeners) listener(words);
      trace?.(`# ${words.map(String).join(' ')}`);
    };
  }
}

/** Tells `listener` what the SDKs write on the console that was made quiet, for what they tell nowhere else; returns what ends that. */
export function listenToConsole(listener: Heard): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
