import { compress, decompress, init } from '@bokuweb/zstd-wasm';
import xxhash from 'xxhash-wasm';
import type { Frame } from './frame-headers.js';
import { withChecksum } from './with-checksum.js';

/** The bundled zstd in WebAssembly, for a Node without zstd if the addon was not built. Several times slower than either.
 * See `Codec`. */
export async function loadWasmCodec(level: number) {
  const [{ h64Raw }] = await Promise.all([xxhash(), init()]);
  return {
    name: 'WebAssembly',
    compress(content: Uint8Array): Buffer {
      return withChecksum(compress(content, level), h64Raw(content));
    },
    decompress(bytes: Buffer, { content, exact }: Pick<Frame, 'content' | 'exact'>): Buffer {
      const raw = decompress(bytes, { defaultHeapSize: Math.max(content, 1) });
      if (exact && raw.length !== content) throw new Error(`A frame of ${content} bytes holds ${raw.length}.`);
      return Buffer.from(raw.buffer, raw.byteOffset, raw.length);
    },
  };
}
