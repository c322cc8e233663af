import type { StreamEvent } from '../../../chat/event.js';
import type { ChatRequest } from '../../../chat/request.js';
import type { FailureContext } from '../failure/failure-text.js';
import { withSupportedMedia } from '../media/supported-media.js';
import type { Provider } from '../provider.js';
import { fitRequest } from '../request/fit-request.js';
import { guarded } from './stream.js';

/** Sends one request to a vendor and yields the answer as it arrives; may throw any error of the SDK. */
export type SendRequest = (request: ChatRequest, signal: AbortSignal) => AsyncIterable<StreamEvent>;

/** The address and key of an adapter. */
interface AccessContext extends Omit<FailureContext, 'model'> {
  /** Null for the vendor's own address. */
  readonly apiBase: string | null;
  readonly account?: string;
}

/** Eight digits that distinguish addresses and accounts without revealing them. */
function originOf({ apiBase, apiKey, account }: AccessContext): string {
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256');
  return hash
    .update(JSON.stringify([apiBase, account ?? apiKey]))
    .digest('hex')
    .slice(0, 8);
}

/** The provider that every adapter creates. It adds the contract's errors and checks to what the adapter sends and reads. */
export class StreamingProvider implements Provider {
  readonly name: string;
  readonly #context: AccessContext;
  readonly #send: SendRequest;
  readonly #media: RegExp | null;
  #origin: string | null = null;

  /** `media`: the file formats that the vendor supports in addition to the usual ones. */
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
    const send = (both: AbortSignal) =>
      this.#send(fitRequest(withSupportedMedia(request, title, this.#media), this), both);
    return guarded(send, { ...this.#context, model: request.model, tokens: request.estimated_tokens }, signal);
  }
}
