import type { ByteStream } from './byte-stream.js';

/**
 * The size of a chunk, in bytes. SDKs copy the rest of a chunk with every event they find in it, so a large chunk is copied many times; a small
 * one costs another read of the stream.
 */
const CHUNK_SIZE = 8192;

/** How much may be buffered, in bytes. Beyond that a server that is faster than the reader has to wait. */
const MAX_WAITING = 256 * 1024;

/**
 * Reads a stream in chunks of a good size, and rejects only after all data was read. When a connection breaks, the stream's own iterator
 * drops its buffer, and with it the last words of an answer.
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
