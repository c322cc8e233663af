import type { HiError } from '../../errors.js';

/** How often a request is sent that fails each time. */
export const ATTEMPTS = 4;
const FIRST_DELAY = 1000;
/** If a server asks for a longer wait, the error is shown immediately. Milliseconds. */
const LONGEST_WAIT = 120_000;

/** How long to wait before trying again after the given attempt failed, in milliseconds; null if retrying is no use. */
export function delayBefore(attempt: number, error: HiError): number | null {
  if (!error.retryable || attempt >= ATTEMPTS || attempt > error.retries) return null;
  const delay = error.retryAfter ?? FIRST_DELAY * 2 ** (attempt - 1);
  return delay > LONGEST_WAIT ? null : delay;
}

/** Waits, and rejects with an abort error as soon as `signal` aborts. */
export async function sleep(delay: number, signal: AbortSignal): Promise<void> {
  await process.getBuiltinModule('node:timers/promises').setTimeout(delay, undefined, { signal });
}
