import type OpenAI from 'openai';
import type { StreamEvent } from '../../chat/event.js';
import { eventData, serverSentEvents } from '../../http/server-sent-events.js';
import { asMalformed } from '../common/answer/stream.js';
import { callIds } from '../common/request/call-ids.js';
import type { TurnForm } from '../common/request/template-turns.js';
import type { WebNotice } from '../common/request/web-search.js';
import type { SentRequest } from '../common/schema/sent-request.js';
import { headersOf } from '../common/sdk-options.js';
import { ChatAnswer, type Chunk } from './openai-chat-answer.js';
import { toVendorRequest } from './openai-chat-request.js';
import { sayNoSearch, toVendorSearch } from './openai-chat-web.js';
import type { OpenAIFormat } from './openai-schema.js';

/** One answer through Chat Completions. Reads the raw chunks, because the SDK's stream helper throws for some compatible servers. */
export async function* streamChat(
  client: OpenAI,
  request: SentRequest<OpenAIFormat>,
  options: {
    readonly provider: string;
    readonly title: string;
    readonly idleTimeout: number;
    readonly compatible: boolean;
    readonly form: TurnForm;
    readonly host: string;
    readonly notice: WebNotice;
  },
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  yield* sayNoSearch(request, options, options.notice);
  const body = {
    ...toVendorRequest(request, options.provider, options),
    ...toVendorSearch(request, options),
    ...request.options,
    ...request.extra?.body,
  };
  const answer = new ChatAnswer();
  let failure: unknown = null;
  try {
    const response = await client.chat.completions.create(body, { signal, ...headersOf(request) }).asResponse();
    for await (const texts of serverSentEvents(response, options.idleTimeout)) {
      for (const text of texts) {
        // Not `yield*`: in an async generator, delegating to a plain one creates several promises per event.
        for (const event of answer.read(eventData<Chunk>(text))) yield event;
      }
    }
  } catch (thrown) {
    // OpenRouter adds an error object to an answer that is already finished; it is ignored then.
    if (!answer.isFinished) throw asMalformed(thrown, options.title);
    failure = thrown;
  }
  if (signal.aborted || !answer.isComplete) return;
  yield* answer.end(callIds(request.messages), failure);
}
