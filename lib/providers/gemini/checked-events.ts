import { eventData, serverSentEvents } from '../../http/server-sent-events.js';
import { PlainResponse, PlainStream } from '../../http/web-standard.js';

/** An event that is an error object, recognised by the beginning of its text, since the others are parsed later. */
const ERROR = /^\s*\{\s*"error"/;

/** The keys of a piece of an answer; anything else may be an error message. */
const PIECE = /"(?:candidates|usageMetadata|promptFeedback)"/;

/**
 * The same response with each event on one line. Google's SDK searches an event from its first byte again with every chunk,
 * cannot read data of several lines, and drops errors inside the stream, answers that are not a stream, and a last event without its blank line.
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
        // Events before an error are part of the answer.
        if (good !== '') yield Buffer.from(good);
        good = '';
        eventData(event);
      }
      good += `data: ${event.replaceAll('\n', ' ')}\n\n`;
    }
    yield Buffer.from(good);
  }
}
