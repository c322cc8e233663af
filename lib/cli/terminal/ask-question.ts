import { HiError } from '../../errors.js';

/** The streams a question uses, and the signal that cancels it. */
export interface PromptStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly signal?: AbortSignal;
}

/** The context that a question of `inquirer.ts` takes. */
export interface PromptContext extends PromptStreams {
  readonly signal: AbortSignal;
  /** A cancelled question leaves no menu in the transcript. */
  readonly clearPromptOnDone: boolean;
}

/**
 * Asks a question of `inquirer.ts`. Rejects as an interruption when the user or the signal cancels it. At Ctrl-D and Ctrl-Z the package stops reading
 * for good: Ctrl-D therefore cancels the question, and after Ctrl-Z it is asked again.
 */
export async function askQuestion<Answer>(
  ask: (context: PromptContext) => Promise<Answer>,
  { input, output, signal }: PromptStreams,
): Promise<Answer> {
  for (;;) {
    const continued = new AbortController();
    const closed = new AbortController();
    const cancelled = signal === undefined ? closed.signal : AbortSignal.any([closed.signal, signal]);
    const onContinue = (): void => continued.abort();
    const onPause = (): void => {
      if (!continued.signal.aborted) closed.abort();
    };
    process.on('SIGCONT', onContinue);
    input.on('pause', onPause);
    try {
      return await ask({
        input,
        output,
        signal: AbortSignal.any([cancelled, continued.signal]),
        get clearPromptOnDone() {
          return cancelled.aborted;
        },
      });
    } catch (thrown) {
      if (!isCancelled(thrown)) throw thrown;
      if (cancelled.aborted || !continued.signal.aborted)
        throw new HiError('interrupted', 'The question was cancelled.', { cause: thrown });
    } finally {
      process.off('SIGCONT', onContinue);
      input.off('pause', onPause);
    }
  }
}

/** Whether the package rejected because the user or a signal cancelled the question. */
function isCancelled(thrown: unknown): boolean {
  return thrown instanceof Error && ['ExitPromptError', 'AbortPromptError'].includes(thrown.name);
}
