import type { Readable } from 'node:stream';
import type { Call } from './call.js';
import { inbox } from './inbox.js';
import { aborted, asNetworkError, silence } from './network-failure.js';
import { PlainStream } from './plain-stream.js';

/** The body as the SDKs read it. The clock runs only while somebody waits for it. */
export function toBody(source: Readable, call: Call, trace?: (bytes: Uint8Array) => void): ReadableStream<Uint8Array> {
  const read = inbox(source);
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

/** The words of a refusal. What it says counts more than that its body was cut, so that is forgiven. */
export async function readAll(body: ReadableStream<Uint8Array>, call: Call): Promise<string> {
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  } catch {
    if (call.signal?.aborted) throw aborted();
    return '';
  }
}
