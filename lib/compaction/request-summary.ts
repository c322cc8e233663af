import type { ChatEvent } from '../chat/event.js';
import type { TextModel, TextPrompt, WrittenText } from '../chat/request.js';
import { asHiError, HiError } from '../errors.js';

/** The time limits of a model. */
export interface Limits {
  /** The longest time without data, in milliseconds; twice as long before the first data. */
  readonly idle: number;
  /** Aborts at the time limit of the whole pass. */
  readonly total: AbortSignal;
}

/**
 * Asks a model for a text. Yields its progress, and its usage at the end.
 * Throws a `HiError` when it fails or takes too long, even if it ignores its signal, and an abort error when `signal` aborts.
 */
export async function* requestText(
  model: TextModel,
  prompt: TextPrompt,
  { idle, total }: Limits,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, WrittenText> {
  const silence = new AbortController();
  const giveUp = AbortSignal.any([signal, total, silence.signal]);
  let characters = 0;
  let notify = (): void => undefined;
  let timer = setTimeout(() => silence.abort(), 2 * idle);
  const onProgress = (count: number) => {
    if (giveUp.aborted) return;
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), idle);
    characters = count;
    notify();
  };
  try {
    giveUp.throwIfAborted();
    const stopped = rejectionOf(giveUp);
    const outcome = Promise.race([stopped, model.write(prompt, onProgress, giveUp)]);
    for (;;) {
      const progress = new Promise<null>((resolve) => {
        notify = () => resolve(null);
      });
      const text = await Promise.race([outcome, progress]);
      if (text === null) {
        yield { type: 'compact-progress', characters };
        continue;
      }
      const { provider, model: name } = model;
      if (text.usage) yield { type: 'usage', purpose: 'summary', provider, model: name, usage: text.usage };
      return text;
    }
  } catch (thrown) {
    signal.throwIfAborted();
    const waited = (characters === 0 ? 2 * idle : idle) / 1000;
    if (silence.signal.aborted) throw tooSlow(`'${model.model}' sent nothing for ${waited} s`, thrown);
    if (total.aborted) throw tooSlow(`'${model.model}' did not finish in time`, thrown);
    throw asHiError(thrown);
  } finally {
    clearTimeout(timer);
    // The consumer stopped reading, so the rest of the answer is not needed.
    silence.abort();
  }
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function tooSlow(what: string, cause: unknown): HiError {
  return new HiError('network', `${what}.`, {
    cause,
    hint: 'Raise compaction.timeout_ms and compaction.idle_timeout_ms, or set a faster small_model.',
  });
}
