import type { ChatEvent, StreamEvent } from '../../chat/event.js';
import type { Usage } from '../../chat/message.js';
import type { ModelMemory } from '../../chat/model/model-facts.js';
import type { ChatRequest } from '../../chat/request.js';
import { joinSources } from '../../chat/source.js';
import { Pieces } from '../../chat/text/pieces.js';
import { HiError, isAbort } from '../../errors.js';
import { type Provider, RequestRefusal } from '../../providers/common/provider.js';
import type { KeptImage } from '../common/keep-image.js';
import type { Adapted } from '../refusals/adapt-request.js';
import { failureOfEmpty, learntFrom, learntLate, MOST_REFUSALS, withoutContent } from './failed-request.js';
import type { PartialAnswer } from './partial-answer.js';
import { ATTEMPTS, delayBefore, sleep } from './retry-delay.js';
import { wholeCharacters } from './whole-characters.js';

/** How much of one answer is read, in characters: about half a million tokens, more than any model writes. An endless answer must not fill the memory. */
const MAX_ANSWER = 2 * 1024 * 1024;
const ENDLESS = `Stopped: the answer is longer than ${MAX_ANSWER / 1024 / 1024} million characters. The part received is kept.`;

/** Stores an image that the model drew. */
export type KeepImage = (drawing: Extract<StreamEvent, { type: 'image' }>) => Promise<KeptImage>;

/**
 * A failure of the moment may hide a refusal: after two of them the third request of a question is plainer, the next one as before. Where there is no sign of
 * a refusal, and none of the last question either, only the one request after all others is.
 */
const PLAIN_ATTEMPT = 3;

/**
 * Sends a request and fills `answer`, yielding what the screen shows. A transient failure is retried after a delay, and a refused request is sent
 * without what the server does not accept, as long as none of the answer was shown. The request includes what is known about the model.
 * Throws the provider's `HiError` or an abort error; `answer` then contains the part received.
 */
export async function* requestAnswer(
  provider: Provider,
  unfitted: ChatRequest,
  answer: PartialAnswer,
  memory: ModelMemory,
  signal: AbortSignal,
  keep: KeepImage | null = null,
): AsyncGenerator<ChatEvent> {
  let request: ChatRequest = { ...unfitted, facts: memory.facts };
  let adapted: Adapted | null = null;
  let unchanged: ChatRequest | null = null;
  const usageOf = (usage: Usage): ChatEvent => ({
    ...{ type: 'usage', purpose: 'answer', provider: provider.name, model: request.model, usage },
  });
  for (let attempt = 1, refusals = 0, contents = 0; ; ) {
    yield { type: 'request', provider: provider.name, model: request.model, context_tokens: request.estimated_tokens };
    try {
      // A notice that only an answer can confirm is shown once there is one.
      const notice = adapted?.proves ? adapted.notice : null;
      yield* once(provider, request, answer, { memory, keep, notice }, signal);
      const { end } = answer;
      if (end !== null && answer.parts.length === 0) {
        const less = await withoutContent(request, end, contents);
        const failure = less === null ? await failureOfEmpty(request, end, attempt >= PLAIN_ATTEMPT) : null;
        if (less !== null || failure !== null) {
          if (end.usage) yield usageOf(end.usage);
          answer.end = null;
        }
        if (failure !== null) throw failure;
        if (less !== null) {
          contents += 1;
          [request, adapted] = [less.request, less];
          continue;
        }
      } else if (adapted !== null || memory.facts.doubted_at) {
        const { learntFromAnswer } = await import('../refusals/adapt-request.js');
        const learnt = learntFromAnswer(adapted, memory.facts, Date.now());
        if (learnt !== null) memory.learn(learnt);
      }
      if (answer.end?.usage) yield usageOf(answer.end.usage);
      return;
    } catch (thrown) {
      if (isAbort(thrown) || !(thrown instanceof HiError)) throw thrown;
      if (thrown.code === 'window') memory.learn(learntFrom(thrown, request, answer));
      if (answer.parts.length > 0) {
        const notice = await learntLate(request, thrown, memory);
        if (notice !== null) yield warning(notice);
        throw thrown;
      }
      const delay = delayBefore(attempt, thrown);
      if (delay !== null) {
        yield { type: 'retry', attempt, delay, reason: thrown.message };
        await sleep(delay, signal);
        attempt += 1;
        if (unchanged !== null) [request, adapted] = [unchanged, null];
        else if (attempt === PLAIN_ATTEMPT && (thrown instanceof RequestRefusal || memory.facts.doubted_at)) {
          const { adaptAfterFailure } = await import('../refusals/adapt-request.js');
          adapted = adaptAfterFailure(request, thrown, memory);
          unchanged = request;
          request = adapted?.request ?? request;
        }
        continue;
      }
      if (thrown.retryable && !(thrown instanceof RequestRefusal) && unchanged === null && attempt === ATTEMPTS) {
        const { adaptAfterFailure } = await import('../refusals/adapt-request.js');
        adapted = adaptAfterFailure(request, thrown, memory);
        if (adapted === null) throw thrown;
        unchanged = request;
        request = adapted.request;
        continue;
      }
      if (thrown instanceof RequestRefusal && request.tools.length > 0) {
        const { withoutRefusedTools } = await import('../refusals/refused-tools.js');
        const fewer = withoutRefusedTools(request, thrown, memory);
        if (fewer !== null) {
          request = fewer.request;
          yield warning(fewer.notice);
          continue;
        }
      }
      const less = await withoutContent(request, thrown, contents);
      if (less !== null) {
        contents += 1;
        [request, adapted] = [less.request, less];
        continue;
      }
      if (!(thrown instanceof RequestRefusal) || (unchanged !== null && thrown.retryable)) throw thrown;
      const { adaptRequest } = await import('../refusals/adapt-request.js');
      refusals += 1;
      adapted = refusals > MOST_REFUSALS ? null : adaptRequest(request, thrown, memory, refusals > 1);
      if (adapted === null) {
        const { causeOf } = await import('../refusals/earlier-messages.js');
        throw await causeOf(provider, request, thrown, signal);
      }
      request = adapted.request;
      if (adapted.notice !== null && adapted.proves === null) yield warning(adapted.notice);
    }
  }
}

async function* once(
  provider: Provider,
  request: ChatRequest,
  answer: PartialAnswer,
  {
    memory,
    keep,
    notice,
  }: { readonly memory: ModelMemory; readonly keep: KeepImage | null; readonly notice: string | null },
  signal: AbortSignal,
): AsyncGenerator<ChatEvent> {
  const text = new Pieces();
  const thinking = new Pieces();
  let size = 0;
  try {
    let unsaid = notice;
    for await (const event of wholeCharacters(provider.stream(request, signal))) {
      if (unsaid !== null && event.type !== 'end') {
        yield warning(unsaid);
        unsaid = null;
      }
      switch (event.type) {
        case 'text':
        case 'thinking':
          (event.type === 'text' ? text : thinking).add(event.text);
          yield event;
          size += event.text.length;
          break;
        case 'part':
          answer.parts.push(event.part);
          text.take();
          thinking.take();
          break;
        case 'image': {
          const shown = await keepPicture(event, answer, keep);
          if (shown !== null) yield shown;
          break;
        }
        case 'notice':
          yield warning(event.text);
          break;
        case 'end':
          answer.end = event;
          break;
        default:
          note(event, answer, memory);
      }
      if (size > MAX_ANSWER) {
        answer.end = { type: 'end', stop_reason: 'length', usage: null, detail: ENDLESS };
        return;
      }
    }
    signal.throwIfAborted();
  } finally {
    // Text that was shown is kept even if its block is unfinished. Unfinished thinking has no signature and cannot be sent back.
    keepRest(answer, 'thinking', thinking);
    keepRest(answer, 'text', text);
  }
}

function keepRest(answer: PartialAnswer, type: 'thinking' | 'text', pieces: Pieces): void {
  const text = pieces.take();
  if (text !== '') answer.parts.push({ type, text });
}

const warning = (text: string): ChatEvent => ({ type: 'notice', level: 'warning', text });

/** Collects the events that are not shown immediately. */
function note(
  event: Extract<StreamEvent, { type: 'sources' | 'facts' }>,
  answer: PartialAnswer,
  memory: ModelMemory,
): void {
  if (event.type === 'facts') memory.learn(event.facts);
  else answer.sources = joinSources(answer.sources ?? [], event.sources);
}

/** Stores a picture and returns the event for the screen; null if none can be stored. */
async function keepPicture(
  event: Extract<StreamEvent, { type: 'image' }>,
  answer: PartialAnswer,
  keep: KeepImage | null,
): Promise<ChatEvent | null> {
  const kept = await keep?.(event);
  if (kept === undefined) return null;
  answer.parts.push(kept.part);
  return kept.event;
}
