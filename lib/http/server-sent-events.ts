import { createParser } from 'eventsource-parser';
import { isJsonObject, type JsonObject, parseObject } from '../chat/json.js';
import { monotonic } from '../clock.js';
import { HiError } from '../errors.js';
import { StreamError } from '../http/stream-error.js';
import { idleError } from './network-error.js';
import { atMost, GRACE } from './time-limit.js';
import { webPage } from './unexpected-page.js';

/** For how many idle timeouts a server may send only comments, as gateways do while a request waits in a queue, for ten minutes at most. */
const KEEPALIVE_LIMIT = 5;

/** The longest event, in characters. One event may hold a whole image; one without an end would fill the memory. */
const MAX_EVENT = 32 * 1024 * 1024;

/**
 * The data of the events of a response as they arrive, up to `[DONE]`, those of one read at a time. Reads on to the end of the response, so that the
 * connection can be reused, but waits only a moment for it. The SDKs parse such a stream too, but copy the unread rest with every event, which costs several
 * times as much as everything else here. A body that is one JSON object and no stream is one event; a web page is an error.
 */
export async function* serverSentEvents(response: Response, idleTimeout: number): AsyncGenerator<readonly string[]> {
  let events: string[] = [];
  let isDone = false;
  const unparsed: string[] = [];
  const parser = createParser({
    onEvent({ data }) {
      isDone ||= data.startsWith('[DONE]');
      if (!isDone) events.push(data);
    },
    onError({ line }) {
      if (line !== undefined) unparsed.push(line);
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
      } else if (waited > KEEPALIVE_LIMIT * idleTimeout) {
        throw idleError(new URL(response.url), waited);
      } else if (size > MAX_EVENT) {
        throw oversizedEvent(new URL(response.url));
      }
    }
  } finally {
    void body?.cancel();
  }
  // The last event may lack its blank line. An event that was cut is not JSON, and the missing end shows it.
  parser.feed('\n\n');
  const rest = unparsed.join('\n');
  if (rest.trimStart().startsWith('<')) throw webPage(new URL(response.url));
  // One object, or one a line.
  const others = parseObject(rest) === null ? unparsed : [rest];
  const last = [...events, ...others].filter((text) => parseObject(text) !== null);
  if (last.length > 0) yield last;
}

function oversizedEvent({ host }: URL): HiError {
  return new HiError('malformed', `'${host}' sent ${MAX_EVENT / 1024 / 1024} MiB without a complete event.`, {
    hint: 'Check api_base: this may not be a chat server.',
  });
}

/**
 * The object in an event's data; an empty one for JSON that is no object. Throws a `SyntaxError` for text that is not JSON, and a `StreamError` for an error
 * object in place of a piece of the answer.
 */
export function eventData<Data>(text: string): Data {
  const data = JSON.parse(text);
  if (data?.error) throw new StreamError(isJsonObject(data.error) ? data.error : { message: String(data.error) });
  if (isJsonObject(data) && isComplaint(data)) throw new StreamError({ ...data, message: complaintOf(data) });
  return typeof data === 'object' && data !== null ? data : JSON.parse('{}');
}

/** What a piece of an answer has, in any protocol. */
const PIECES = [
  'choices',
  'candidates',
  'promptFeedback',
  'usageMetadata',
  'type',
  'output',
  'content',
  'delta',
  'usage',
];

/** Whether an object is what a server says in place of an answer, with status 200: it has words, and nothing that an answer has. */
function isComplaint(data: JsonObject): boolean {
  if (data.object === 'error') return true;
  return complaintOf(data) !== '' && !PIECES.some((name) => name in data);
}

function complaintOf({ message, detail, msg, error_msg }: JsonObject): string {
  const said = [message, detail, msg, error_msg].find((value) => typeof value === 'string' || Array.isArray(value));
  return typeof said === 'string' ? said : said === undefined ? '' : JSON.stringify(said);
}
