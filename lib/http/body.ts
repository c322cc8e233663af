import { pipeline } from 'node:stream';
import zlib from 'node:zlib';
import { createParser } from 'eventsource-parser';
import { isJsonObject, type JsonObject, parseObject } from '../chat/json.js';
import { sizeText } from '../chat/text.js';
import { HiError } from '../errors.js';
import { monotonic } from '../waits.js';
import {
  aborted,
  asNetworkError,
  idleError,
  oversizedError,
  type PendingRequest,
  StreamError,
  webPage,
} from './failures.js';
import { PlainStream } from './web-standard.js';

/**
 * The largest response that is read, in bytes. A long answer in small pieces takes 50 MB, a list of models less than
 * one. An endless one would fill the memory.
 */
const MAX_ANSWER = 64_000_000;
const MAX_LIST = 4_000_000;

/** The body of a response, for the SDKs. The idle timer runs only while a read is pending. */
export function toBody(
  source: ByteStream,
  call: PendingRequest,
  trace?: (bytes: Uint8Array) => void,
): ReadableStream<Uint8Array> {
  const read = chunkQueue(source);
  const onAbort = () => source.destroy(aborted());
  const end = () => call.signal?.removeEventListener('abort', onAbort);
  call.signal?.addEventListener('abort', onAbort, { once: true });
  if (call.signal?.aborted) onAbort();
  let size = 0;
  const most = call.method === 'GET' ? MAX_LIST : MAX_ANSWER;
  const stream = new PlainStream({
    async next() {
      const limit = size === 0 ? call.firstTimeout : call.idleTimeout;
      const timer = setTimeout(() => source.destroy(idleError(call.url, limit)), limit);
      try {
        const chunk = await read();
        size += chunk?.length ?? 0;
        if (size > most) {
          source.destroy();
          throw oversizedError(call.url, most);
        }
        if (chunk === null) end();
        else trace?.(chunk);
        return chunk;
      } catch (error) {
        end();
        throw asNetworkError(error, call);
      } finally {
        clearTimeout(timer);
      }
    },
    stop() {
      end();
      source.destroy();
    },
  });
  return stream.asReadableStream();
}

/** How much of an error response is read, in bytes, and for how long, in milliseconds. */
const MAX_ERROR_BYTES = 256 * 1024;
const MAX_ERROR_WAIT = 5000;

/**
 * The text of an error response. A body that is cut off or endless is not a further error: the text received so far is
 * enough.
 */
export async function readErrorText(body: ReadableStream<Uint8Array>, call: PendingRequest): Promise<string> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  const until = monotonic() + MAX_ERROR_WAIT;
  for (let size = 0; size < MAX_ERROR_BYTES; size += chunks.at(-1)?.length ?? 0) {
    const step = await atMost(until - monotonic(), reader.read());
    if (!step?.value) break;
    chunks.push(step.value);
  }
  void reader.cancel();
  if (call.signal?.aborted) throw aborted();
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * The size of a chunk, in bytes. SDKs copy the rest of a chunk with every event they find in it, so a large chunk is
 * copied many times; a small one costs another read of the stream.
 */
const CHUNK_SIZE = 8192;

/** How much may be buffered, in bytes. Beyond that a server that is faster than the reader has to wait. */
const MAX_WAITING = 256 * 1024;

/**
 * Reads a stream in chunks of a good size, and rejects only after all data was read. When a connection breaks, the
 * stream's own iterator drops its buffer, and with it the last words of an answer.
 */
export function chunkQueue(source: ByteStream): () => Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  /** The number of chunks already returned. Removing each from the front of a long array would move all others. */
  let taken = 0;
  let waiting = 0;
  let over: { readonly error: unknown } | null = null;
  let wake = () => {};
  const end = (error: unknown) => {
    over ??= { error };
    wake();
  };
  source.on('data', (chunk: Uint8Array) => {
    for (let at = 0; at < chunk.length; at += CHUNK_SIZE) chunks.push(chunk.subarray(at, at + CHUNK_SIZE));
    waiting += chunk.length;
    if (waiting > MAX_WAITING) source.pause();
    wake();
  });
  source.on('end', () => end(null));
  source.on('error', end);
  source.on('close', () => end(new Error('The stream was closed.')));
  source.resume();

  function portion(): Uint8Array {
    const first = taken;
    let size = 0;
    while (taken < chunks.length && size + (chunks[taken]?.length ?? 0) <= CHUNK_SIZE) {
      size += chunks[taken]?.length ?? 0;
      taken += 1;
    }
    const parts = chunks.slice(first, taken);
    waiting -= size;
    if (taken === chunks.length) {
      chunks.length = taken = 0;
      source.resume();
    }
    return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
  }

  return async () => {
    if (chunks.length === 0 && over === null) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    if (chunks.length > 0) return portion();
    if (over?.error) throw over.error;
    return null;
  };
}

/** What is used of a stream of bytes. Node's `Readable` is one. Begin to listen, then call `resume`. */
export interface ByteStream extends AsyncIterable<Uint8Array> {
  on(event: 'data', listener: (bytes: Uint8Array) => void): this;
  on(event: 'end' | 'close', listener: () => void): this;
  on(event: 'error', listener: (error: Error) => void): this;
  pause(): this;
  resume(): this;
  /** Ends it where it is, and what it reads from; with an error, listeners get that. */
  destroy(error?: Error): unknown;
}

/**
 * The decompressed body. Removes the two headers about the compression. A body in an unknown encoding is returned
 * unchanged.
 */
export function decompressed(body: ByteStream, headers: Headers): ByteStream {
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  const decoder = decoderFor(encoding);
  if (decoder === null) return body;
  headers.delete('content-encoding');
  headers.delete('content-length');
  return pipeline(body, decoder, () => {
    // The reader reads the decoder, which reports the errors of both streams.
  });
}

function decoderFor(encoding: string) {
  if (encoding === 'identity') return null;
  if (encoding === 'gzip' || encoding === 'x-gzip') return zlib.createGunzip({ flush: zlib.constants.Z_SYNC_FLUSH });
  if (encoding === 'deflate') return zlib.createInflate({ flush: zlib.constants.Z_SYNC_FLUSH });
  if (encoding === 'br') return zlib.createBrotliDecompress({ flush: zlib.constants.BROTLI_OPERATION_FLUSH });
  return null;
}

/**
 * How long to wait for a server to close its stream after the last event, in milliseconds. A closed stream leaves its
 * connection for the next request.
 */
export const GRACE = 100;

/** What a promise resolves to within `milliseconds`; undefined when it takes longer or rejects. */
export async function atMost<Value>(
  milliseconds: number,
  promise: Promise<Value> | undefined,
): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  const first = await Promise.race([promise, late]).catch(() => undefined);
  clearTimeout(timer);
  return first;
}

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
