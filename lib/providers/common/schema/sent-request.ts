import type { StreamEvent } from '../../../chat/event.js';
import type { ChatRequest } from '../../../chat/request.js';

/** A request as an adapter sends it. */
export interface SentRequest<Format> extends ChatRequest {
  /** Its schema in the form of the vendor; absent where it has none, or the vendor is told it in words alone. */
  readonly format?: Format;
}

/** Sends a request, its schema in the form of the vendor. What knows that form is loaded for a schema. */
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
