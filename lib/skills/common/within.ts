/**
 * Runs the work with a time limit. Rejects when `signal` aborts or `milliseconds` have passed, even if the work ignores the signal
 * passed to it.
 */
export function within<Value>(
  milliseconds: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
  return new Promise((resolve, reject) => {
    limited.throwIfAborted();
    limited.addEventListener('abort', () => reject(limited.reason), { once: true });
    work(limited).then(resolve, reject);
  });
}
