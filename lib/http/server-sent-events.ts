import { createParser } from 'eventsource-parser';
import { isJsonObject, type JsonObject, parseObject } from '../chat/json.js';
import { sizeText } from '../chat/text.js';
import { monotonic } from '../clock.js';
import { HiError } from '../errors.js';
import { atMost, GRACE } from './body.js';
import { idleError, StreamError, webPage } from './failures.js';

/**
 * How many idle timeouts long a server may send nothing but comments, as gateways do for up to ten minutes while a
 * request is queued.
 */
const KEEPALIVE_LIMIT = 5;

/** The longest event, in characters. One event may hold a whole image; an endless one would fill the memory. */
const MAX_EVENT = 32_000_000;

/**
 * Yields the data of the events of a response up to `[DONE]`, in one array for each read. Then reads to the end of the
 * response, so that the connection can be reused, but waits only a moment for it. The SDKs have such parsers too, but
 * copy the unread rest with every event, which takes several times as long as all of this. A body that is one JSON
 * object instead of a stream counts as one event; a web page is an error.
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
  // The last event may lack its blank line. If it was cut off, it is not valid JSON.
  parser.feed('\n\n');
  const rest = unparsed.join('\n');
  if (rest.trimStart().startsWith('<')) throw webPage(new URL(response.url));
  // One object, or one object per line.
  const others = parseObject(rest) === null ? unparsed : [rest];
  const last = [...events, ...others].filter((text) => parseObject(text) !== null);
  if (last.length > 0) yield last;
}

function oversizedEvent({ host }: URL): HiError {
  return new HiError('malformed', `'${host}' sent ${sizeText(MAX_EVENT)} without a complete event.`, {
    hint: 'Check api_base: this may not be a chat server.',
  });
}

/**
 * The object in an event's data; an empty one for any other JSON value. Throws a `SyntaxError` for text that is not
 * JSON, and a `StreamError` for an error object instead of a piece of the answer.
 */
export function eventData<Data>(text: string): Data {
  const data = JSON.parse(text);
  if (data?.error) throw new StreamError(isJsonObject(data.error) ? data.error : { message: String(data.error) });
  if (isJsonObject(data) && isComplaint(data)) throw new StreamError({ ...data, message: complaintOf(data) });
  return typeof data === 'object' && data !== null ? data : JSON.parse('{}');
}

/** The keys of a piece of an answer, in any protocol. */
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

/**
 * True for an error message that a server sends with status 200: an object with text and with none of the keys of an
 * answer.
 */
function isComplaint(data: JsonObject): boolean {
  if (data.object === 'error') return true;
  return complaintOf(data) !== '' && !PIECES.some((name) => name in data);
}

function complaintOf({ message, detail, msg, error_msg }: JsonObject): string {
  const said = [message, detail, msg, error_msg].find((value) => typeof value === 'string' || Array.isArray(value));
  return typeof said === 'string' ? said : said === undefined ? '' : JSON.stringify(said);
}
