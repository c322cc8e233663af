import { setImmediate } from 'node:timers/promises';

/** How long judging may block the event loop, in milliseconds. */
const SLICE_MS = 20;

let since = 0;

/** Whether a long loop has to call `yieldToEvents` now. Checked first, because an `await` in every iteration would take longer than most iterations. */
export function shouldYield(): boolean {
  return performance.now() - since > SLICE_MS;
}

/** Yields to the event loop, so that keys and signals are handled. Rejects when `signal` fires. */
export async function yieldToEvents(signal: AbortSignal | undefined): Promise<void> {
  await setImmediate();
  since = performance.now();
  signal?.throwIfAborted();
}
