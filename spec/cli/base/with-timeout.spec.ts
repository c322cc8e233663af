import { describe, expect, it } from '@jest/globals';
import { withTimeout } from '../../../lib/cli/base/settings.js';
import { isAbort } from '../../../lib/errors.js';

const never = new AbortController().signal;

/** Ends only by its signal, as a request does. */
const endless = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

describe('a question with a time limit', () => {
  it('gives the answer that comes in time', async () => {
    await expect(withTimeout(60_000, never, async () => 'ready')).resolves.toBe('ready');
  });

  it('fails with a network error after the limit, which says what to do', async () => {
    const late = withTimeout(5, never, endless, 'Use a smaller model.');
    await expect(late).rejects.toMatchObject({ code: 'network', hint: 'Use a smaller model.' });
  });

  it('stays cancelled if its caller cancelled it', async () => {
    const caller = new AbortController();
    const asked = withTimeout(60_000, caller.signal, endless).catch((thrown: unknown) => thrown);
    caller.abort();
    expect(isAbort(await asked)).toBe(true);
  });
});
