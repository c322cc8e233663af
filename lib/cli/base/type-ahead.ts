import { HiError } from '../../errors.js';
import type { Input } from './world.js';

/** How long what was typed before may take to be read, and how long the keys must be silent after it. Milliseconds. */
const READ = 50;
const SILENCE = 400;
const CTRL_C = 3;

/**
 * Takes what was typed before a question came up, until the hands rest: it was meant for the shell and must not answer. Resolves to whether there
 * was something. Rejects as an interruption at Ctrl-C and when the signal aborts. The terminal is left raw, for the question.
 */
export async function discardTypeAhead(input: Input, signal: AbortSignal): Promise<boolean> {
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let isTyped = false;
  try {
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => reject(new HiError('interrupted', 'The question was left.'));
      const hear = (bytes: Buffer): void => {
        if (bytes.includes(CTRL_C)) stop();
        isTyped = true;
        clearTimeout(timer);
        timer = setTimeout(resolve, SILENCE);
      };
      timer = setTimeout(resolve, READ);
      input.setRawMode?.(true);
      input.on('data', hear);
      over.signal.addEventListener('abort', () => input.off('data', hear));
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { signal: over.signal });
    });
    return isTyped;
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}
