import { Writable } from 'node:stream';
import { HiError } from '../../errors.js';
import type { OutputStream } from '../../screen/output-stream.js';

/** The streams a question uses, and the signal that cancels it. */
export interface PromptStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: OutputStream;
  readonly signal?: AbortSignal;
}

/** The context that a question of `inquirer.ts` takes. */
export interface PromptContext {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
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
  const writable = asWritable(output);
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
        output: writable,
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

/** The package takes only a stream of Node's. A terminal is one. */
function asWritable(output: OutputStream): NodeJS.WritableStream {
  if (output instanceof Writable) return output;
  const { columns = 80, rows = 24 } = output;
  const write = (text: string, _encoding: string, done: (error?: Error | null) => void) => output.write(text, done);
  return Object.assign(new Writable({ decodeStrings: false, write }), { columns, rows });
}

/** Whether the package rejected because the user or a signal cancelled the question. */
function isCancelled(thrown: unknown): boolean {
  return thrown instanceof Error && ['ExitPromptError', 'AbortPromptError'].includes(thrown.name);
}
