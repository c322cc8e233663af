import type { Readable } from 'node:stream';
import { monotonic } from '../clock.js';
import { chunkQueue } from './chunk-queue.js';
import { aborted, asNetworkError, silence } from './network-error.js';
import type { Call } from './pending-request.js';
import { PlainStream } from './plain-stream.js';
import { atMost } from './time-limit.js';

/** The body as the SDKs read it. The clock runs only while somebody waits for it. */
export function toBody(source: Readable, call: Call, trace?: (bytes: Uint8Array) => void): ReadableStream<Uint8Array> {
  const read = chunkQueue(source);
  const onAbort = () => source.destroy(aborted());
  const end = () => call.signal?.removeEventListener('abort', onAbort);
  call.signal?.addEventListener('abort', onAbort, { once: true });
  if (call.signal?.aborted) onAbort();
  const stream = new PlainStream({
    async next() {
      const timer = setTimeout(() => source.destroy(silence(call.url, call.idleTimeout)), call.idleTimeout);
      try {
        const chunk = await read();
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

/** More than anybody says about a refusal, in bytes and milliseconds. */
const MANY = 256 * 1024;
const LONG = 5000;

/** The words of a refusal. What it says counts more than that its body was cut, or has no end, so that is forgiven. */
export async function readWords(body: ReadableStream<Uint8Array>, call: Call): Promise<string> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  const until = monotonic() + LONG;
  for (let size = 0; size < MANY; size += chunks.at(-1)?.length ?? 0) {
    const step = await atMost(until - monotonic(), reader.read());
    if (!step?.value) break;
    chunks.push(step.value);
  }
  void reader.cancel();
  if (call.signal?.aborted) throw aborted();
  return Buffer.concat(chunks).toString('utf8');
}
