import type { StreamEvent } from '../../../chat/event.js';
import type { ChatRequest } from '../../../chat/request.js';
import type { FailureContext } from '../failure/failure-text.js';
import { onlyTaken } from '../media/taken-media.js';
import type { Provider } from '../provider.js';
import { fitRequest } from '../request/fit-request.js';
import { guarded } from './stream.js';

/** Sends one request to a vendor and yields the answer as it arrives; may throw whatever its SDK throws. */
export type SendRequest = (request: ChatRequest, signal: AbortSignal) => AsyncIterable<StreamEvent>;

/** Where an adapter sends its requests, and with which key. */
interface AccessContext extends Omit<FailureContext, 'model'> {
  /** Null for the vendor's own address. */
  readonly apiBase: string | null;
}

/** Eight digits that tell one address and key from another, and nothing else of them. */
function originOf({ apiBase, apiKey }: AccessContext): string {
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256');
  return hash
    .update(JSON.stringify([apiBase, apiKey]))
    .digest('hex')
    .slice(0, 8);
}

/** The provider that every adapter makes: what the adapter sends and reads, with every end of a stream one of the contract's. */
export class StreamingProvider implements Provider {
  readonly name: string;
  readonly #context: AccessContext;
  readonly #send: SendRequest;
  readonly #media: RegExp | null;
  #origin: string | null = null;

  /** `media`: the formats of files that the vendor takes beside those that all take. */
  constructor(context: AccessContext, send: SendRequest, media: RegExp | null = null) {
    this.name = context.member.name;
    this.#context = context;
    this.#send = send;
    this.#media = media;
  }

  get origin(): string {
    this.#origin ??= originOf(this.#context);
    return this.#origin;
  }

  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<StreamEvent> {
    const { title } = this.#context.member;
    const send = (both: AbortSignal) => this.#send(fitRequest(onlyTaken(request, title, this.#media), this), both);
    return guarded(send, { ...this.#context, model: request.model, tokens: request.estimated_tokens }, signal);
  }
}
