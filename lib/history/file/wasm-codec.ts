import { compress, decompress, init } from '@bokuweb/zstd-wasm';
import xxhash from 'xxhash-wasm';
import { type Frame, withChecksum } from './frames.js';

/**
 * The bundled zstd in WebAssembly, for a Node without zstd if the addon was not built. Several times slower than
 * either. See `Codec`.
 */
export async function loadWasmCodec(level: number) {
  const [{ h64Raw }] = await Promise.all([xxhash(), init()]);
  return {
    name: 'WebAssembly',
    compress(content: Uint8Array): Buffer {
      return withChecksum(compress(content, level), h64Raw(content));
    },
    decompress(bytes: Buffer, { content, exact }: Pick<Frame, 'content' | 'exact'>): Buffer {
      const raw = decompress(withSmallerWindow(bytes), { defaultHeapSize: Math.max(content, 1) });
      if (exact && raw.length !== content) throw new Error(`A frame of ${content} bytes holds ${raw.length}.`);
      return Buffer.from(raw.buffer, raw.byteOffset, raw.length);
    },
  };
}

/**
 * The offset of the window descriptor in a frame that has one, and the largest one of a zstd of 32 bits, 2^30 bytes
 * (RFC 8878, 3.1.1.1.2).
 */
const WINDOW = 5;
const LARGEST_WINDOW = (30 - 10) << 3;

/**
 * A frame that claims a window of 2 GiB is refused on 32 bits, though the window does not matter where the whole
 * content is in memory.
 */
function withSmallerWindow(bytes: Buffer): Buffer {
  const isSingleSegment = (bytes.readUInt8(4) & 0x20) !== 0;
  if (isSingleSegment || bytes.readUInt8(WINDOW) <= LARGEST_WINDOW) return bytes;
  const smaller = Buffer.from(bytes);
  smaller.writeUInt8(LARGEST_WINDOW, WINDOW);
  return smaller;
}
