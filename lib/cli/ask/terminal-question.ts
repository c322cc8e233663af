import { Writable } from 'node:stream';
import { HiError } from '../../errors.js';
import type { OutputStream } from '../../screen/output-stream.js';
import type { Input } from '../base/world.js';

/** The streams a question uses, and the signal that cancels it. */
export interface PromptStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: OutputStream;
  readonly signal?: AbortSignal;
}

/** The context that a question of `inquirer.ts` takes. */
interface PromptContext {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly signal: AbortSignal;
  /** A cancelled question leaves no menu in the transcript. */
  readonly clearPromptOnDone: boolean;
}

/**
 * Asks a question of `inquirer.ts`. Rejects as an interruption when the user or the signal cancels it. At Ctrl-D and
 * Ctrl-Z the package stops reading for good: Ctrl-D therefore cancels the question, and after Ctrl-Z it is asked again.
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

/**
 * How long to wait for input that is already there, and how long the keys must then be quiet: a key that is held down
 * begins to repeat after 660. Milliseconds.
 */
const FIRST_INPUT = 50;
const QUIET = 700;
const CTRL_C = 3;

/**
 * Discards what was typed before a question appeared, until the keys are quiet: it was meant for the shell and must not
 * answer. Resolves to whether there was anything. Rejects as an interruption at Ctrl-C and when the signal aborts.
 * Leaves the terminal in raw mode for the question.
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

const ON = '\x1b[?2004h';
const OFF = '\x1b[?2004l';

/**
 * Lets the terminal mark what is pasted while `ask` asks, so that a paste can be told from keys. Off again on every way
 * out of the process.
 */
export async function withBracketedPaste<Answer>(output: OutputStream, ask: () => Promise<Answer>): Promise<Answer> {
  const on = (): unknown => output.write(ON);
  const off = (): unknown => output.write(OFF);
  on();
  // A shell that was used meanwhile has switched it off.
  process.on('SIGCONT', on).on('exit', off);
  try {
    return await ask();
  } finally {
    process.off('SIGCONT', on).off('exit', off);
    off();
  }
}
