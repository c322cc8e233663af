/**
 * What the work resolves to. Rejects when `signal` aborts and when `milliseconds` have passed, also while the work does not listen to
 * the signal it is given.
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
