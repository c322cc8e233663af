import { setTimeout as wait } from 'node:timers/promises';
import type { ChatEvent, StreamEvent } from '../../chat/event.js';
import { estimateParts } from '../../chat/media.js';
import type { AnswerPart } from '../../chat/message.js';
import type { ModelFacts, ModelMemory } from '../../chat/model.js';
import type { ChatRequest } from '../../chat/request.js';
import { windowIn } from '../../chat/text.js';
import type { Source } from '../../chat/web-source.js';
import { HiError } from '../../errors.js';
import { type Provider, RequestRefusal } from '../../providers/common/provider.js';
import { beginWait, monotonic } from '../../waits.js';
import { type Adapted, learnLate, withoutRefusedContent } from '../refusals/adapt-request.js';

export type StreamEnd = Extract<StreamEvent, { type: 'end' }>;

/** An answer while it arrives. If the stream ends early, it contains the part received. */
export interface PartialAnswer {
  parts: AnswerPart[];
  /** Null until the stream has ended properly. */
  end: StreamEnd | null;
  /** Present if it is based on a web search. */
  sources?: readonly Source[];
  /** The sources of the turn's earlier answers, which have the first numbers. */
  readonly earlier?: readonly Source[];
}

/**
 * How often a request is sent again without what the server refused, and how often without content that it declined.
 */
export const MOST_REFUSALS = 3;
const MOST_CONTENTS = 2;

/**
 * What a refused request says about the window: its size, or that the known size is wrong and must be asked for again.
 * If the window cut the answer, it holds no more than the request and the part received.
 */
export function learntFrom({ message }: HiError, request: ChatRequest, { parts }: PartialAnswer): ModelFacts {
  const context_window = windowIn(message);
  if (context_window !== null) return { context_window };
  const filled = request.estimated_tokens + estimateParts(parts);
  return parts.length > 0 && filled < request.context_window ? { context_window: filled } : { asked_at: 1 };
}

/** What is asked in place of a request whose content was refused: by an error, or by an answer without a word. */
export function withoutContent(request: ChatRequest, refused: HiError | StreamEnd, times: number): Adapted | null {
  const isRefused = refused instanceof HiError ? refused.code === 'refused' : refused.stop_reason === 'refusal';
  if (!isRefused || times === MOST_CONTENTS) return null;
  const said = refused instanceof HiError ? refused.message : refused.detail;
  return withoutRefusedContent(request, said ?? 'It declined to answer.', times > 0);
}

/** The notice of what a late refusal taught; null for any other error. */
export function learntLate(request: ChatRequest, thrown: HiError, memory: ModelMemory): string | null {
  if (!(thrown instanceof RequestRefusal)) return null;
  return learnLate(request, thrown, memory);
}

export const warning = (text: string): ChatEvent => ({ type: 'notice', level: 'warning', text });

/** How often a request is sent that fails each time. */
export const ATTEMPTS = 4;
const FIRST_DELAY = 1000;
const LAST_DELAY = 2000;
/** If a server asks for a longer wait, the error is shown immediately. Milliseconds. */
const LONGEST_WAIT = 120_000;

/**
 * How long to wait before trying again after the given attempt failed, in milliseconds; null if retrying is no use.
 * `left` is how long the user waits for a server that says when it answers again.
 */
export function delayBefore(attempt: number, error: HiError, left = 0): number | null {
  const asked = error.retryAfter;
  if (asked !== null && asked <= left) return attempt < ATTEMPTS ? asked : Math.max(asked, LAST_DELAY);
  if (!error.retryable || attempt >= ATTEMPTS || attempt > error.retries) return null;
  const delay = error.retryAfter ?? FIRST_DELAY * 2 ** (attempt - 1);
  return delay > LONGEST_WAIT ? null : delay;
}

/** Waits, and rejects with an abort error as soon as `signal` aborts. */
export async function sleep(delay: number, signal: AbortSignal): Promise<void> {
  await wait(delay, undefined, { signal });
}

/**
 * How long a server may load a model, how often it is asked meanwhile, and how soon it says that it still does.
 * Milliseconds.
 */
const LONGEST_LOADING = 15 * 60_000;
const BETWEEN_LOADING = 1000;
const SAYS_LOADING = 1000;

/** The answer. The request is sent again for as long as the server says that it is loading its model. */
export async function* onceLoaded(
  provider: Provider,
  request: ChatRequest,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  const begun = monotonic();
  let endWait: (() => void) | null = null;
  let isLoaded: NodeJS.Timeout | undefined;
  const end = (): void => {
    clearTimeout(isLoaded);
    endWait?.();
    endWait = null;
  };
  try {
    for (;;) {
      try {
        for await (const event of provider.stream(request, signal)) {
          end();
          yield event;
        }
        return;
      } catch (thrown) {
        const isLoading = thrown instanceof HiError && thrown.isLoading;
        if (!isLoading || monotonic() - begun > LONGEST_LOADING) throw thrown;
        clearTimeout(isLoaded);
        endWait ??= beginWait(`the server to load ${request.model}`);
        await sleep(BETWEEN_LOADING, signal);
        isLoaded = setTimeout(end, SAYS_LOADING);
      }
    }
  } finally {
    end();
  }
}
