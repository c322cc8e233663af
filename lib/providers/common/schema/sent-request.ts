import type { StreamEvent } from '../../../chat/event.js';
import type { ChatRequest } from '../../../chat/request.js';

/** A request that an adapter sends. */
export interface SentRequest<Format> extends ChatRequest {
  /** Its schema in the vendor's form; absent if there is none or the request has it only as text. */
  readonly format?: Format;
}

/** Sends a request with its schema in the vendor's form. Loads the conversion only if there is a schema. */
export function sendShaped<Format>(
  request: ChatRequest,
  load: () => Promise<(request: ChatRequest) => SentRequest<Format>>,
  send: (request: SentRequest<Format>) => AsyncIterable<StreamEvent>,
): AsyncIterable<StreamEvent> {
  if (request.schema === undefined) return send(request);
  return (async function* () {
    const shape = await load();
    yield* send(shape(request));
  })();
}
