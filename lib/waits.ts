import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Milliseconds by a clock that only goes forward. Not `performance.now()`: its first use loads a part of Node, which
 * costs a start more than its timing is worth.
 */
export function monotonic(): number {
  return process.uptime() * 1000;
}

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

const interruptible: Set<AbortController> = new Set();
let undisturbed = 0;

/**
 * Ends the waits for other processes that are underway, except for those of what must not be lost. What waited has done
 * nothing.
 */
export function interruptWaits(): void {
  for (const wait of interruptible) wait.abort();
}

/**
 * Pauses, in milliseconds, before the next look at what another process holds. Rejects with an abort error at
 * `interruptWaits`.
 */
export async function pause(time: number): Promise<void> {
  const wait = new AbortController();
  if (undisturbed === 0) interruptible.add(wait);
  try {
    await sleep(time, undefined, { signal: wait.signal });
  } finally {
    interruptible.delete(wait);
  }
}

/** Runs `work`, whose waits do not end before it is done. */
export async function uninterrupted<Result>(work: () => Promise<Result>): Promise<Result> {
  undisturbed += 1;
  try {
    return await work();
  } finally {
    undisturbed -= 1;
  }
}
