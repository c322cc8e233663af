import { monotonic } from './clock.js';

/** Something other than the user and the model that the program waits for. */
export interface Wait {
  /** As it follows "waiting for". */
  readonly what: string;
  /** When it began, by the monotonic clock and by that of the day. */
  readonly since: number;
  readonly at: Date;
  /** Whether what is waited for may ask the user on the terminal, so that nothing may be redrawn meanwhile. */
  readonly mayAsk: boolean;
}

const waits: Wait[] = [];
let listener: ((wait: Wait | null) => void) | null = null;

/** What the program waits for now, the oldest of several, of which the others are parts; null for nothing. */
export function currentWait(): Wait | null {
  return waits[0] ?? null;
}

/** Sets what is called with the current wait whenever that changes; null for nothing. */
export function listenToWaits(next: typeof listener): void {
  listener = next;
}

/** Says that the program waits from now on. Returns the function that ends the wait. */
export function beginWait(what: string, { mayAsk = false }: { readonly mayAsk?: boolean } = {}): () => void {
  const wait: Wait = { what, since: monotonic(), at: new Date(), mayAsk };
  waits.push(wait);
  if (currentWait() === wait) listener?.(wait);
  return () => {
    const wasShown = currentWait() === wait;
    waits.splice(waits.indexOf(wait), 1);
    if (wasShown) listener?.(currentWait());
  };
}
