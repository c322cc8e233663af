import type { ChatEvent } from '../../chat/event.js';
import type { ModelMemory } from '../../chat/model.js';
import type { ChatRequest } from '../../chat/request.js';
import type { HiError } from '../../errors.js';
import { type Provider, RequestRefusal } from '../../providers/common/provider.js';
import { type Adapted, adaptAfterFailure, adaptRequest, learntFromAnswer } from '../refusals/adapt-request.js';
import { failureOfEmpty } from '../refusals/empty-answer.js';
import { withoutRefusedTools } from '../refusals/refused-tools.js';
import { MOST_GUESSES, MOST_REFUSALS, warning, withoutContent } from './failed-request.js';
import type { PartialAnswer, StreamEnd } from './partial-answer.js';
import { ATTEMPTS, delayBefore, sleep } from './retry-delay.js';

/**
 * A failure of the moment may hide a refusal: after two of them the third request of a question is plainer, the next one as before. Where there is no sign of
 * a refusal, and none of the last question either, only the one request after all others is.
 */
const PLAIN_ATTEMPT = 3;

/** The attempts to get an answer: the request as it is sent next, and what was changed in it because the server refused it or failed. */
export class RequestAttempts {
  readonly #provider: Provider;
  readonly #memory: ModelMemory;
  readonly #signal: AbortSignal;
  #request: ChatRequest;
  #adapted: Adapted | null = null;
  /** The request before it was made plainer on suspicion; null if it was not. */
  #unchanged: ChatRequest | null = null;
  #attempt = 1;
  #refusals = 0;
  /** How often the cause of a refusal was guessed. */
  #guesses = 0;
  #contents = 0;

  constructor(provider: Provider, request: ChatRequest, memory: ModelMemory, signal: AbortSignal) {
    this.#provider = provider;
    this.#request = request;
    this.#memory = memory;
    this.#signal = signal;
  }

  get request(): ChatRequest {
    return this.#request;
  }

  /** The notice that only an answer can confirm, and that is shown once there is one; null for none. */
  get unconfirmed(): string | null {
    return this.#adapted?.proves ? this.#adapted.notice : null;
  }

  /**
   * Takes an answer that has ended, and learns from it. Returns false if it is empty and the request is to be sent again with less. Throws the failure that an
   * empty answer stands for.
   */
  async *accept(answer: PartialAnswer): AsyncGenerator<ChatEvent, boolean> {
    const { end, parts } = answer;
    const { model } = this.#request;
    if (end === null || parts.length > 0) await this.#learn();
    const isEmpty = end !== null && parts.length === 0;
    const less = isEmpty ? await withoutContent(this.#request, end, this.#contents) : null;
    const failure = isEmpty && less === null ? await this.#failureOfEmpty(end) : null;
    if (end?.usage) yield { type: 'usage', purpose: 'answer', provider: this.#provider.name, model, usage: end.usage };
    if (less === null && failure === null) return true;
    answer.end = null;
    if (failure !== null) throw failure;
    if (less !== null) this.#sendLess(less);
    return false;
  }

  /** Prepares the next attempt after a failure before the answer, and waits if the failure may pass. Throws if there is no other attempt. */
  async *recover(failure: HiError): AsyncGenerator<ChatEvent> {
    const delay = delayBefore(this.#attempt, failure);
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
    if (this.#adapted === null && !this.#memory.facts.doubted_at) return;
    const learnt = learntFromAnswer(this.#adapted, this.#memory.facts, Date.now());
    if (learnt !== null) this.#memory.learn(learnt);
  }

  async *#retry(failure: HiError, delay: number): AsyncGenerator<ChatEvent> {
    yield { type: 'retry', attempt: this.#attempt, delay, reason: failure.message };
    await sleep(delay, this.#signal);
    this.#attempt += 1;
    const isSuspicious = failure instanceof RequestRefusal || this.#memory.facts.doubted_at;
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
    const less = await withoutContent(this.#request, failure, this.#contents);
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
    const isOver = this.#refusals > MOST_REFUSALS || this.#guesses === MOST_GUESSES;
    const isLast = this.#refusals === MOST_REFUSALS;
    const isSecond = isLast || this.#guesses > 0;
    this.#adapted = isOver ? null : adaptRequest(this.#request, refusal, this.#memory, isSecond, isLast);
    if (this.#adapted?.proves) this.#guesses += 1;
    if (this.#adapted === null) {
      const { causeOf } = await import('../refusals/earlier-messages.js');
      throw await causeOf(this.#provider, this.#request, refusal, this.#signal);
    }
    const { request, notice, proves } = this.#adapted;
    this.#request = request;
    if (notice !== null && proves === null) yield warning(notice);
  }
}
