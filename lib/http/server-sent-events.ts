import { createParser } from 'eventsource-parser';
import { isJsonObject, parseObject } from '../chat/json.js';
import { monotonic } from '../clock.js';
import { HiError } from '../errors.js';
import { StreamError } from '../http/stream-error.js';
import { silence } from './network-error.js';
import { atMost, GRACE } from './time-limit.js';
import { webPage } from './unexpected-page.js';

/** So many idle times a server may send nothing but signs of life: gateways send comments while a request waits in a queue, for ten minutes at most. */
const SIGNS_OF_LIFE = 5;

/** The longest event, in characters. Whole images come in one; what never ends would fill the memory. */
const LONGEST = 64 * 1024 * 1024;

/**
 * The events of a response as they come, up to `[DONE]`: the data of all that one read brought at a time. It reads on to the end of the response, so that
 * the connection serves the next one, but waits only a moment for it. The SDKs take such a stream apart too, but copy what they have not read yet with every event, which costs several
 * times as much as everything else here. A body that is no stream but one JSON object is one event; a web page is an error.
 */
export async function* serverSentEvents(response: Response, idleTimeout: number): AsyncGenerator<readonly string[]> {
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
  const body = response.body?.getReader();
  let waited = 0;
  let size = 0;
  try {
    for (;;) {
      const since = monotonic();
      const step = isDone ? await atMost(GRACE, body?.read()) : await body?.read();
      if (!step?.value) break;
      waited += monotonic() - since;
      size += step.value.length;
      parser.feed(decoder.decode(step.value, { stream: true }));
      if (events.length > 0) {
        yield events;
        events = [];
        waited = size = 0;
      } else if (waited > SIGNS_OF_LIFE * idleTimeout) {
        throw silence(new URL(response.url), waited);
      } else if (size > LONGEST) {
        throw endless(new URL(response.url));
      }
    }
  } finally {
    void body?.cancel();
  }
  // The last event may lack its blank line. One that was cut is no JSON, and is told by the missing end.
  parser.feed('\n\n');
  const rest = strange.join('\n');
  if (rest.trimStart().startsWith('<')) throw webPage(new URL(response.url));
  const last = [...events, rest].filter((text) => parseObject(text) !== null);
  if (last.length > 0) yield last;
}

function endless({ host }: URL): HiError {
  return new HiError('malformed', `'${host}' sent ${LONGEST / 1024 / 1024} MiB without a complete event.`, {
    hint: 'Check api_base: this may not be a chat server.',
  });
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
