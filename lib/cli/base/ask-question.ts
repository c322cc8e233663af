import { HiError } from '../../errors.js';

/** Where a question is asked, and what ends it unanswered. */
export interface PromptStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly signal?: AbortSignal;
}

/** What a question of `inquirer.ts` gets as its context. */
export interface PromptContext extends PromptStreams {
  readonly signal: AbortSignal;
  /** A question that was not answered leaves no menu in the transcript. */
  readonly clearPromptOnDone: boolean;
}

/**
 * The answer to a question of `inquirer.ts`; rejects as an interruption when the user leaves it or the signal ends it. At Ctrl-D and Ctrl-Z the
 * package stops reading, so that no key would ever be heard again: the first leaves the question, after the second it is asked anew.
 */
export async function askQuestion<Answer>(
  ask: (asking: PromptContext) => Promise<Answer>,
  { input, output, signal }: PromptStreams,
): Promise<Answer> {
  for (;;) {
    const continued = new AbortController();
    const closed = new AbortController();
    const leaving = signal === undefined ? closed.signal : AbortSignal.any([closed.signal, signal]);
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
        signal: AbortSignal.any([leaving, continued.signal]),
        get clearPromptOnDone() {
          return leaving.aborted;
        },
      });
    } catch (thrown) {
      if (!isCancelled(thrown)) throw thrown;
      if (leaving.aborted || !continued.signal.aborted)
        throw new HiError('interrupted', 'The question was left.', { cause: thrown });
    } finally {
      process.off('SIGCONT', onContinue);
      input.off('pause', onPause);
    }
  }
}

/** True for what the package rejects with when the user leaves a question, or a signal ended it. */
function isCancelled(thrown: unknown): boolean {
  return thrown instanceof Error && ['ExitPromptError', 'AbortPromptError'].includes(thrown.name);
}
