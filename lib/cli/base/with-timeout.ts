import { HiError } from '../../errors.js';

/** Runs `ask` for at most so many milliseconds. Throws a `HiError` of code `network` after them. */
export async function withTimeout<Value>(
  timeout: number,
  signal: AbortSignal,
  ask: (combined: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const expired = AbortSignal.timeout(timeout);
  try {
    return await ask(AbortSignal.any([signal, expired]));
  } catch (thrown) {
    if (!expired.aborted || signal.aborted) throw thrown;
    throw new HiError('network', `The server did not answer within ${timeout / 1000} s.`, {
      hint: 'Check the network connection and api_base.',
      cause: thrown,
    });
  }
}
