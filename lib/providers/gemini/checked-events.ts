import { PlainResponse } from '../../http/plain-globals.js';
import { PlainStream } from '../../http/plain-stream.js';
import { eventData, serverSentEvents } from '../../http/server-sent-events.js';

/** An event that is an error object, recognised by the beginning of its text, since the others are parsed later. */
const ERROR = /^\s*\{\s*"error"/;

/** What a piece of an answer has; anything else may be a complaint. */
const PIECE = /"(?:candidates|usageMetadata|promptFeedback)"/;

/**
 * The same response, whose body is each event on a line of its own. Google's SDK looks for the end of an event from its first byte with every piece of it,
 * cannot read data of several lines, and drops an error that comes as an event, an answer that is no stream, and a last event without its blank line.
 */
export function checkedEvents(response: Response, idleTimeout: number): Response {
  if (new URL(response.url).searchParams.get('alt') !== 'sse') return response;
  const chunks = check(response, idleTimeout);
  const body = new PlainStream({
    next: async () => (await chunks.next()).value ?? null,
    stop: () => void chunks.return(undefined),
  });
  return PlainResponse.rewritten(response, body);
}

async function* check(response: Response, idleTimeout: number): AsyncGenerator<Uint8Array, undefined> {
  for await (const events of serverSentEvents(response, idleTimeout)) {
    let good = '';
    for (const event of events) {
      if (ERROR.test(event) || !PIECE.test(event)) {
        // What came before an error is part of the answer.
        if (good !== '') yield Buffer.from(good);
        good = '';
        eventData(event);
      }
      good += `data: ${event.replaceAll('\n', ' ')}\n\n`;
    }
    yield Buffer.from(good);
  }
}
