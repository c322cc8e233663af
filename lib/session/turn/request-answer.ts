import type { ChatEvent, StreamEvent } from '../../chat/event.js';
import type { AnswerPart, Usage } from '../../chat/message.js';
import type { ModelFacts, ModelMemory } from '../../chat/model/model-facts.js';
import type { ChatRequest } from '../../chat/request.js';
import { joinSources, type Source } from '../../chat/source.js';
import { Pieces } from '../../chat/text/pieces.js';
import { windowIn } from '../../chat/text/window-in.js';
import { HiError, isAbort } from '../../errors.js';
import { type Provider, RequestRefusal } from '../../providers/common/provider.js';
import type { KeptImage } from '../common/keep-image.js';
import type { Adapted } from '../refusals/adapt-request.js';
import { ATTEMPTS, delayBefore, sleep } from './retry-delay.js';
import { wholeCharacters } from './whole-characters.js';

/** How much of one answer is read, in characters: about half a million tokens, more than any model writes. An endless answer must not fill the memory. */
const MAX_ANSWER = 2 * 1024 * 1024;
const ENDLESS = `Stopped: the answer is longer than ${MAX_ANSWER / 1024 / 1024} million characters. The part received is kept.`;

/** An answer while it arrives. If the stream ends early, it contains the part received. */
export interface PartialAnswer {
  parts: AnswerPart[];
  /** Null until the stream has ended properly. */
  end: Extract<StreamEvent, { type: 'end' }> | null;
  /** Present if it is based on a web search. */
  sources?: readonly Source[];
}

/** Stores an image that the model drew. */
export type KeepImage = (drawing: Extract<StreamEvent, { type: 'image' }>) => Promise<KeptImage>;

/** How often a request is sent again without what the server refused. */
const MOST_REFUSALS = 2;

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
      const declined = isDeclined(answer);
      const less = declined ? await withoutContent(request, answer.end?.detail, contents) : null;
      if (less !== null) {
        if (answer.end?.usage) yield usageOf(answer.end.usage);
        contents += 1;
        [request, adapted, answer.end] = [less.request, less, null];
        continue;
      }
      if (!declined && (adapted !== null || memory.facts.doubted_at)) {
        const { learntFromAnswer } = await import('../refusals/adapt-request.js');
        const learnt = learntFromAnswer(adapted, memory.facts, Date.now());
        if (learnt !== null) memory.learn(learnt);
      }
      if (answer.end?.usage) yield usageOf(answer.end.usage);
      return;
    } catch (thrown) {
      if (isAbort(thrown) || !(thrown instanceof HiError)) throw thrown;
      if (thrown.code === 'window') memory.learn(learntFrom(thrown));
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
      const less = thrown.code === 'refused' ? await withoutContent(request, thrown.message, contents) : null;
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

/** What a refused request says about the window: its size, or that the known size is wrong and must be asked for again. */
function learntFrom({ message }: HiError): ModelFacts {
  const context_window = windowIn(message);
  return context_window === null ? { asked_at: 1 } : { context_window };
}

/** Whether the model declined before it said anything. */
const isDeclined = ({ end, parts }: PartialAnswer): boolean => end?.stop_reason === 'refusal' && parts.length === 0;

async function withoutContent(request: ChatRequest, said: string | undefined, times: number): Promise<Adapted | null> {
  if (times === MOST_REFUSALS) return null;
  const { withoutRefusedContent } = await import('../refusals/earlier-messages.js');
  return withoutRefusedContent(request, said ?? 'It declined to answer.');
}

async function learntLate(request: ChatRequest, thrown: HiError, memory: ModelMemory): Promise<string | null> {
  if (!(thrown instanceof RequestRefusal)) return null;
  const { learnLate } = await import('../refusals/learn-late.js');
  return learnLate(request, thrown, memory);
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
