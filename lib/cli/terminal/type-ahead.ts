import { HiError } from '../../errors.js';
import type { Input } from '../base/world.js';

/** How long to wait for input that is already there, and how long the keys must then be quiet: a key that is held down begins to repeat after 660. Milliseconds. */
const FIRST_INPUT = 50;
const QUIET = 700;
const CTRL_C = 3;

/**
 * Discards what was typed before a question appeared, until the keys are quiet: it was meant for the shell and must not answer. Resolves to whether
 * there was anything. Rejects as an interruption at Ctrl-C and when the signal aborts. Leaves the terminal in raw mode for the question.
 */
export async function discardTypeAhead(input: Input, signal: AbortSignal): Promise<boolean> {
  const finished = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let isTyped = false;
  try {
    await new Promise<void>((resolve, reject) => {
      const cancel = (): void => reject(new HiError('interrupted', 'The question was cancelled.'));
      const onData = (bytes: Buffer): void => {
        if (bytes.includes(CTRL_C)) cancel();
        isTyped = true;
        clearTimeout(timer);
        timer = setTimeout(resolve, QUIET);
      };
      timer = setTimeout(resolve, FIRST_INPUT);
      input.setRawMode?.(true);
      input.on('data', onData);
      finished.signal.addEventListener('abort', () => input.off('data', onData));
      if (signal.aborted) cancel();
      else signal.addEventListener('abort', cancel, { signal: finished.signal });
    });
    return isTyped;
  } finally {
    clearTimeout(timer);
    finished.abort();
  }
}
