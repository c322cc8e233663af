import { HiError } from '../../errors.js';

/** How long a model may take to answer the question of a test, in milliseconds: a large one is loaded from the disk first. */
export const TEST_LIMIT = 5 * 60_000;

/** What a model that takes longer is told with. */
export const TEST_HINT = 'It may still be loading the model: try again. Or use a smaller model.';

/** Runs `ask` for at most so many milliseconds. Throws a `HiError` of code `network` after them. */
export async function withTimeout<Value>(
  timeout: number,
  signal: AbortSignal,
  ask: (combined: AbortSignal) => Promise<Value>,
  hint = 'Check the network connection and api_base.',
): Promise<Value> {
  const expired = AbortSignal.timeout(timeout);
  try {
    return await ask(AbortSignal.any([signal, expired]));
  } catch (thrown) {
    if (!expired.aborted || signal.aborted) throw thrown;
    throw new HiError('network', `The server did not answer within ${timeout / 1000} s.`, {
      hint,
      cause: thrown,
    });
  }
}
