import type { ChatEvent, StreamEvent } from '../../chat/event.js';
import { joinSources } from '../../chat/message.js';
import type { ModelMemory } from '../../chat/model.js';
import type { ChatRequest } from '../../chat/request.js';
import { Pieces } from '../../chat/text.js';
import { HiError, isAbort } from '../../errors.js';
import type { Provider } from '../../providers/common/provider.js';
import type { KeptImage } from '../common/keep-image.js';
import { learntFrom, learntLate, warning } from './failed-request.js';
import type { PartialAnswer, StreamEnd } from './partial-answer.js';
import { RequestAttempts } from './request-attempts.js';
import { wholeCharacters } from './whole-characters.js';

/** How much of one answer is read, in characters: about half a million tokens, more than any model writes. An endless answer must not fill the memory. */
const MAX_ANSWER = 2 * 1024 * 1024;
const ENDLESS = `Stopped: the answer is longer than ${MAX_ANSWER / 1024 / 1024} million characters. The part received is kept.`;

/** The conversation has changed since the request was made, which has a word that is gone from it. It is made again. */
export class OutdatedRequest extends Error {
  override readonly name = 'OutdatedRequest';
}

/** Stores an image that the model drew. */
export type KeepImage = (drawing: Extract<StreamEvent, { type: 'image' }>) => Promise<KeptImage>;

export interface RequestOptions {
  readonly keepImage?: KeepImage | null;
  /** Whether everything in the request is still in the conversation. */
  isCurrent?(): Promise<boolean>;
}

/**
 * Sends a request and fills `answer`, yielding what the screen shows. A transient failure is retried after a delay, and a refused request is sent
 * without what the server does not accept, as long as none of the answer was shown. The request includes what is known about the model.
 * Throws the provider's `HiError` or an abort error; `answer` then contains the part received. Throws `OutdatedRequest` before an attempt if the request
 * is no longer current.
 */
export async function* requestAnswer(
  provider: Provider,
  unfitted: ChatRequest,
  answer: PartialAnswer,
  memory: ModelMemory,
  signal: AbortSignal,
  { keepImage: keep = null, isCurrent }: RequestOptions = {},
): AsyncGenerator<ChatEvent> {
  const attempts = new RequestAttempts(provider, { ...unfitted, facts: memory.facts }, memory, signal);
  for (;;) {
    const { request, unconfirmed } = attempts;
    if ((await isCurrent?.()) === false) throw new OutdatedRequest();
    yield { type: 'request', provider: provider.name, model: request.model, context_tokens: request.estimated_tokens };
    try {
      yield* once(provider, request, answer, { memory, keep, notice: unconfirmed }, signal);
      if (yield* attempts.accept(answer)) return;
    } catch (thrown) {
      if (isAbort(thrown) || !(thrown instanceof HiError)) throw thrown;
      if (thrown.code === 'window') memory.learn(learntFrom(thrown, request, answer));
      if (answer.parts.length > 0) {
        const notice = await learntLate(request, thrown, memory);
        if (notice !== null) yield warning(notice);
        throw thrown;
      }
      yield* attempts.recover(thrown);
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
          const shown = await addImage(event, answer, keep);
          if (shown !== null) yield shown;
          break;
        }
        case 'notice':
          yield warning(event.text);
          break;
        case 'end':
          answer.end = withModel(event, request.model);
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

/** The end with the model that answered in its bill, if that is another than the one that was asked: an alias has no price of its own. */
function withModel(end: StreamEnd, asked: string): StreamEnd {
  const { usage, model } = end;
  if (usage === null || model === undefined || model === asked) return end;
  return { ...end, usage: { ...usage, billing: { ...usage.billing, model } } };
}

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
async function addImage(
  event: Extract<StreamEvent, { type: 'image' }>,
  answer: PartialAnswer,
  keep: KeepImage | null,
): Promise<ChatEvent | null> {
  const kept = await keep?.(event);
  if (kept === undefined) return null;
  answer.parts.push(kept.part);
  return kept.event;
}
