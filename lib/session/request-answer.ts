import type { ChatEvent, StreamEvent } from '../chat/event.js';
import type { AnswerPart } from '../chat/message.js';
import type { ModelFacts, ModelMemory } from '../chat/model-facts.js';
import type { ChatRequest } from '../chat/request.js';
import { joinSources, type Source } from '../chat/source.js';
import { windowIn } from '../chat/window-in.js';
import { HiError, isAbort } from '../errors.js';
import { type Provider, RequestRefusal } from '../providers/common/provider.js';
import { delayBefore, sleep } from './retry-delay.js';
import { wholeCharacters } from './whole-characters.js';

/** An answer while it arrives; what stands in it when the stream ends early is what there is. */
export interface PartialAnswer {
  parts: AnswerPart[];
  /** Null until the stream has ended in good order. */
  end: Extract<StreamEvent, { type: 'end' }> | null;
  /** Present once a search of the web went into it. */
  sources?: readonly Source[];
}

/** How often a request is sent anew without what the server refused. */
const MOST_REFUSALS = 2;

/**
 * Sends a request and fills `answer`, yielding what the screen shows. A failure that may pass is tried again after a delay, and a refused request is sent
 * without what the server does not take, as long as nothing of the answer was shown. The request goes with what is known of the model.
 * Throws the provider's `HiError` or an abort error; `answer` then holds what came.
 */
export async function* requestAnswer(
  provider: Provider,
  unfitted: ChatRequest,
  answer: PartialAnswer,
  memory: ModelMemory,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent> {
  let request: ChatRequest = { ...unfitted, facts: memory.facts };
  for (let attempt = 1, refusals = 0; ; ) {
    yield { type: 'request', provider: provider.name, model: request.model, context_tokens: request.estimated_tokens };
    try {
      yield* once(provider, request, answer, memory, signal);
      const usage = answer.end?.usage;
      if (usage) yield { type: 'usage', purpose: 'answer', provider: provider.name, model: request.model, usage };
      return;
    } catch (thrown) {
      if (isAbort(thrown) || !(thrown instanceof HiError)) throw thrown;
      if (thrown.code === 'window') memory.learn(learntFrom(thrown));
      if (answer.parts.length > 0) throw thrown;
      if (thrown instanceof RequestRefusal && refusals < MOST_REFUSALS) {
        const { adaptRequest } = await import('./adapt-request.js');
        refusals += 1;
        const adapted = adaptRequest(request, thrown, memory, refusals > 1);
        if (adapted === null) throw thrown;
        request = adapted.request;
        if (adapted.notice !== null) yield { type: 'notice', level: 'warning', text: adapted.notice };
        continue;
      }
      const delay = delayBefore(attempt, thrown);
      if (delay === null) throw thrown;
      yield { type: 'retry', attempt, delay, reason: thrown.message };
      await sleep(delay, signal);
      attempt += 1;
    }
  }
}

/** What a refused request tells of the window: its size, else that what was known of it is wrong and has to be asked for again. */
function learntFrom({ message }: HiError): ModelFacts {
  const context_window = windowIn(message);
  return context_window === null ? { asked_at: 1 } : { context_window };
}

async function* once(
  provider: Provider,
  request: ChatRequest,
  answer: PartialAnswer,
  memory: ModelMemory,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent> {
  let text: string[] = [];
  let thinking: string[] = [];
  try {
    for await (const event of wholeCharacters(provider.stream(request, signal))) {
      switch (event.type) {
        case 'text':
          text.push(event.text);
          yield event;
          break;
        case 'thinking':
          thinking.push(event.text);
          yield event;
          break;
        case 'part':
          answer.parts.push(event.part);
          text = [];
          thinking = [];
          break;
        case 'sources':
          answer.sources = joinSources(answer.sources ?? [], event.sources);
          break;
        case 'notice':
          yield { type: 'notice', level: 'warning', text: event.text };
          break;
        case 'facts':
          memory.learn(event.facts);
          break;
        case 'end':
          answer.end = event;
          break;
      }
    }
    signal.throwIfAborted();
  } finally {
    // What was on the screen is kept though its block was never finished; unfinished thinking has no signature and cannot go back.
    if (thinking.length > 0) answer.parts.push({ type: 'thinking', text: thinking.join('') });
    if (text.length > 0) answer.parts.push({ type: 'text', text: text.join('') });
  }
}
