import { setImmediate } from 'node:timers/promises';

/** So long is judged without a break, in milliseconds. */
const SLICE_MS = 20;

let since = 0;

/** Whether a loop that may take long has to call `takeBreath`. Asked first, because an `await` in each round takes longer than most rounds. */
export function isBreathless(): boolean {
  return performance.now() - since > SLICE_MS;
}

/** Lets keys and signals be heard. Rejects when `signal` fires, because nobody waits any more. */
export async function takeBreath(signal: AbortSignal | undefined): Promise<void> {
  await setImmediate();
  since = performance.now();
  signal?.throwIfAborted();
}
