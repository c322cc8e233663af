import { monotonic } from '../clock.js';
import type { ByteStream } from './byte-stream.js';
import { chunkQueue } from './chunk-queue.js';
import { aborted, asNetworkError, idleError, oversizedError } from './network-error.js';
import type { PendingRequest } from './pending-request.js';
import { PlainStream } from './plain-stream.js';
import { atMost } from './time-limit.js';

/**
 * The largest response that is read, in bytes. A long answer in small pieces takes 50 MB, a list of models less than one. An endless one would fill
 * the memory.
 */
const MAX_ANSWER = 64 * 1024 * 1024;
const MAX_LIST = 4 * 1024 * 1024;

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

/** The text of an error response. A body that is cut off or endless is not a further error: the text received so far is enough. */
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
