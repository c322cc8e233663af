import type { StreamEvent } from '../../chat/event.js';
import type { ChatRequest } from '../../chat/request.js';
import type { Provider } from './provider.js';
import type { FailureContext } from './provider-failure.js';
import { guarded } from './stream.js';

/** Sends one request to a vendor and yields the answer as it arrives; may throw whatever its SDK throws. */
export type SendRequest = (request: ChatRequest, signal: AbortSignal) => AsyncIterable<StreamEvent>;

/** The provider that every adapter makes: what the adapter sends and reads, with every end of a stream one of the contract's. */
export class StreamingProvider implements Provider {
  readonly name: string;
  readonly #context: Omit<FailureContext, 'model'>;
  readonly #send: SendRequest;

  constructor(context: Omit<FailureContext, 'model'>, send: SendRequest) {
    this.name = context.member.name;
    this.#context = context;
    this.#send = send;
  }

  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<StreamEvent> {
    return guarded((both) => this.#send(request, both), { ...this.#context, model: request.model }, signal);
  }
}
