import { createParser } from 'eventsource-parser';
import { isJsonObject } from '../chat/json.js';
import { parseObject } from './answer.js';
import { StreamError } from './vendor-error.js';
import { webPage } from './wrong-place.js';

/**
 * The events of a response as they come, up to `[DONE]`: the data of all that one read brought at a time. It reads on to the end of the response, so that
 * the connection serves the next one. The SDKs take such a stream apart too, but copy what they have not read yet with every event, which costs several
 * times as much as everything else here. A body that is no stream but one JSON object is one event; a web page is an error.
 */
export async function* serverSentEvents(response: Response): AsyncGenerator<readonly string[]> {
  let events: string[] = [];
  let isDone = false;
  const strange: string[] = [];
  const parser = createParser({
    onEvent({ data }) {
      isDone ||= data.startsWith('[DONE]');
      if (!isDone) events.push(data);
    },
    onError({ line }) {
      if (line !== undefined) strange.push(line);
    },
  });
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    if (events.length > 0) yield events;
    events = [];
  }
  // The last event may lack its blank line. One that was cut is no JSON, and is told by the missing end.
  parser.feed('\n\n');
  const rest = strange.join('\n');
  if (rest.trimStart().startsWith('<')) throw webPage(new URL(response.url));
  const last = [...events, rest].filter((text) => parseObject(text) !== null);
  if (last.length > 0) yield last;
}

/**
 * What an event's data says; nothing, where it is JSON but no object. Throws a `SyntaxError` for what is no JSON, and a `StreamError` for an error object in
 * the place of a piece of the answer.
 */
export function eventData<Data>(text: string): Data {
  const data = JSON.parse(text);
  if (data?.error) throw new StreamError(isJsonObject(data.error) ? data.error : { message: String(data.error) });
  return typeof data === 'object' && data !== null ? data : JSON.parse('{}');
}
