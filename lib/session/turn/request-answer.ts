import { type ChatEvent, type StreamEvent, usageEvent } from '../../chat/event.js';
import { isRefused, type ModelMemory } from '../../chat/model.js';
import type { ChatRequest } from '../../chat/request.js';
import { HiError, isAbort } from '../../errors.js';
import { type Provider, RequestRefusal } from '../../providers/common/provider.js';
import type { KeptImage } from '../images/images.js';
import {
  type Adapted,
  adaptAfterFailure,
  adaptRequest,
  causeOf,
  failureOfEmpty,
  learntFromAnswer,
  withoutRefusedTools,
} from '../refusals/adapt-request.js';
import { ArrivingAnswer, wholeCharacters } from './answer-pieces.js';
import {
  ATTEMPTS,
  delayBefore,
  learntFrom,
  learntLate,
  MOST_REFUSALS,
  onceLoaded,
  type PartialAnswer,
  type StreamEnd,
  warning,
  withoutContent,
} from './failed-request.js';
import { Patience } from './patience.js';

/**
 * How much of one answer is read, in characters: about half a million tokens, more than any model writes. An endless
 * answer must not fill the memory.
 */
const MAX_ANSWER = 2 * 1024 * 1024;
const ENDLESS = `Stopped: the answer is longer than ${MAX_ANSWER / 1024 / 1024} million characters. The part received is kept.`;

/** The conversation has changed since the request was made, which has a word that is gone from it. It is made again. */
export class OutdatedRequest extends Error {
  override readonly name = 'OutdatedRequest';
}

/** Stores an image that the model drew. */
export type KeepImage = (drawing: Extract<StreamEvent, { type: 'image' }>) => Promise<KeptImage>;

/** A model at its server. */
export interface AskedModel {
  readonly provider: Provider;
  readonly memory: ModelMemory;
  /** Its address; absent for the vendor's own. */
  readonly api_base?: string | undefined;
  /** The name of its server in the configuration; absent for that of the flat form. */
  readonly server?: string | undefined;
  /** How often a request is sent if each time it fails; as often as usual if absent. */
  readonly attempts?: number;
}

interface RequestOptions {
  readonly keepImage?: KeepImage | null;
  /** Whether everything in the request is still in the conversation. */
  isCurrent?(): Promise<boolean>;
  /** How long it waits for a server that says when it answers again; no longer than usual if absent. */
  readonly patience?: Patience;
}

/**
 * Sends a request and fills `answer`, yielding what the screen shows. A transient failure is retried after a delay, and
 * a refused request is sent without what the server does not accept, as long as none of the answer was shown. The
 * request includes what is known about the model. Throws the provider's `HiError` or an abort error; `answer` then
 * contains the part received. Throws `OutdatedRequest` before an attempt if the request is no longer current.
 */
export async function* requestAnswer(
  asked: AskedModel,
  unfitted: ChatRequest,
  answer: PartialAnswer,
  signal: AbortSignal,
  options: RequestOptions = {},
): AsyncGenerator<ChatEvent> {
  const { provider, memory } = asked;
  const { keepImage: keep = null, isCurrent } = options;
  const attempts = new RequestAttempts(asked, { ...unfitted, facts: memory.facts }, signal, options.patience);
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
        const notice = learntLate(request, thrown, memory);
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
  const arriving = new ArrivingAnswer(answer);
  let unsaid = notice;
  try {
    for await (const event of wholeCharacters(onceLoaded(provider, request, signal))) {
      if (unsaid !== null && event.type !== 'end') {
        yield warning(unsaid);
        unsaid = null;
      }
      if (event.type === 'facts') memory.learn(event.facts);
      else if (event.type === 'notice') yield warning(event.text);
      else if (event.type === 'image') {
        const shown = await addImage(event, answer, keep);
        if (shown !== null) yield shown;
      } else for (const shown of arriving.add(event)) yield shown;
      if (arriving.length > MAX_ANSWER) {
        answer.end = { type: 'end', stop_reason: 'length', usage: null, detail: ENDLESS };
        return;
      }
    }
    signal.throwIfAborted();
  } finally {
    arriving.keepUnfinished();
  }
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

/**
 * A failure of the moment may hide a refusal: after two of them the third request of a question is plainer, the next
 * one as before. Where there is no sign of a refusal, and none of the last question either, only the one request after
 * all others is.
 */
const PLAIN_ATTEMPT = 3;

/**
 * The attempts to get an answer: the request as it is sent next, and what was changed in it because the server refused
 * it or failed.
 */
class RequestAttempts {
  readonly #asked: AskedModel;
  readonly #signal: AbortSignal;
  readonly #patience: Patience | undefined;
  #request: ChatRequest;
  #adapted: Adapted | null = null;
  /** The request before it was made plainer on suspicion; null if it was not. */
  #unchanged: ChatRequest | null = null;
  #attempt = 1;
  #refusals = 0;
  /** Whether a plainer form was tried without a word of what was refused. */
  #isGuessed = false;
  #contents = 0;

  constructor(asked: AskedModel, request: ChatRequest, signal: AbortSignal, patience: Patience | undefined) {
    this.#asked = asked;
    this.#request = request;
    this.#signal = signal;
    this.#patience = patience;
  }

  get #memory(): ModelMemory {
    return this.#asked.memory;
  }

  get request(): ChatRequest {
    return this.#request;
  }

  /** The notice that only an answer can confirm, and that is shown once there is one; null for none. */
  get unconfirmed(): string | null {
    return this.#adapted?.proves ? this.#adapted.notice : null;
  }

  /**
   * Takes an answer that has ended, and learns from it. Returns false if it is empty and the request is to be sent
   * again with less. Throws the failure that an empty answer stands for.
   */
  async *accept(answer: PartialAnswer): AsyncGenerator<ChatEvent, boolean> {
    const { end, parts } = answer;
    const { model } = this.#request;
    if (end === null || parts.length > 0) await this.#learn();
    const isEmpty = end !== null && parts.length === 0;
    const less = isEmpty ? withoutContent(this.#request, end, this.#contents) : null;
    const failure = isEmpty && less === null ? await this.#failureOfEmpty(end) : null;
    const { provider } = this.#asked;
    if (end?.usage) yield usageEvent('answer', { ...this.#asked, provider: provider.name, model }, end.usage);
    if (less === null && failure === null) return true;
    answer.end = null;
    if (failure !== null) throw failure;
    if (less !== null) this.#sendLess(less);
    return false;
  }

  /**
   * Prepares the next attempt after a failure before the answer, and waits if the failure may pass. Throws if there is
   * no other attempt.
   */
  async *recover(failure: HiError): AsyncGenerator<ChatEvent> {
    const { attempts = ATTEMPTS } = this.#asked;
    const isOver = attempts < ATTEMPTS && this.#attempt >= attempts;
    const delay = isOver ? null : delayBefore(this.#attempt, failure, this.#patience?.left);
    if (delay !== null) yield* this.#retry(failure, delay);
    else if (this.#isLastResort(failure)) {
      await this.#simplify(failure);
      if (this.#adapted === null) throw failure;
    } else yield* this.#leaveOut(failure);
  }

  async #failureOfEmpty(end: StreamEnd): Promise<HiError | null> {
    return failureOfEmpty(this.#request, end, this.#attempt >= PLAIN_ATTEMPT);
  }

  async #learn(): Promise<void> {
    if (this.#adapted === null && !isRefused(this.#memory.facts, 'usual_form')) return;
    const learnt = learntFromAnswer(this.#adapted, this.#memory.facts, Date.now());
    if (learnt !== null) this.#memory.learn(learnt);
  }

  async *#retry(failure: HiError, delay: number): AsyncGenerator<ChatEvent> {
    const patience = this.#patience ?? new Patience(0, () => null);
    const { next } = patience;
    yield { type: 'retry', attempt: this.#attempt, delay, reason: failure.message, ...(next !== null && { next }) };
    if (await patience.wait(delay, this.#signal)) throw failure;
    this.#attempt += 1;
    const isSuspicious = failure instanceof RequestRefusal || isRefused(this.#memory.facts, 'usual_form');
    if (this.#unchanged !== null) [this.#request, this.#adapted] = [this.#unchanged, null];
    else if (this.#attempt === PLAIN_ATTEMPT && isSuspicious) await this.#simplify(failure);
  }

  /** Whether a plainer request is all that is left to try after a failure that shows no sign of a refusal. */
  #isLastResort(failure: HiError): boolean {
    return (
      failure.retryable &&
      !(failure instanceof RequestRefusal) &&
      this.#unchanged === null &&
      this.#attempt === ATTEMPTS
    );
  }

  /** Makes the request plainer, because its form may be why the server fails. */
  async #simplify(failure: HiError): Promise<void> {
    this.#adapted = adaptAfterFailure(this.#request, failure, this.#memory);
    this.#unchanged = this.#request;
    this.#request = this.#adapted?.request ?? this.#request;
  }

  /** Leaves out what the server refused: tools, content, else what it may be about. */
  async *#leaveOut(failure: HiError): AsyncGenerator<ChatEvent> {
    const fewer = await this.#fewerTools(failure);
    if (fewer !== null) {
      this.#request = fewer.request;
      return yield warning(fewer.notice);
    }
    const less = withoutContent(this.#request, failure, this.#contents);
    if (less !== null) return this.#sendLess(less);
    if (!(failure instanceof RequestRefusal) || (this.#unchanged !== null && failure.retryable)) throw failure;
    yield* this.#adapt(failure);
  }

  async #fewerTools(failure: HiError): Promise<{ readonly request: ChatRequest; readonly notice: string } | null> {
    if (!(failure instanceof RequestRefusal) || this.#request.tools.length === 0) return null;
    return withoutRefusedTools(this.#request, failure, this.#memory);
  }

  #sendLess(less: Adapted): void {
    this.#contents += 1;
    [this.#request, this.#adapted] = [less.request, less];
  }

  async *#adapt(refusal: RequestRefusal): AsyncGenerator<ChatEvent> {
    this.#refusals += 1;
    const isLast = this.#refusals === MOST_REFUSALS;
    this.#adapted = this.#refusals > MOST_REFUSALS ? null : adaptRequest(this.#request, refusal, this.#memory, isLast);
    if (this.#adapted === null) {
      const failure = await causeOf(this.#asked.provider, this.#request, refusal, this.#signal);
      throw this.#isGuessed ? inVain(failure) : failure;
    }
    const { request, notice, proves } = this.#adapted;
    this.#request = request;
    if (proves !== null) this.#isGuessed = true;
    if (notice !== null && proves === null) yield warning(notice);
  }
}

/** The error of a request that was refused without a reason, in the usual form and in a plainer one. */
function inVain(failure: HiError): HiError {
  if (failure.code === 'window') return failure;
  const tried = 'It was sent once more in a plainer form, which was refused too.';
  const hint = failure.hint === null ? tried : `${tried} ${failure.hint}`;
  return new HiError(failure.code, failure.message, { hint, cause: failure });
}
