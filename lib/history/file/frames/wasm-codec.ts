import { compress, decompress, init } from '@bokuweb/zstd-wasm';
import xxhash from 'xxhash-wasm';
import type { Frame } from './frame-headers.js';

/** Where a frame says what it has, after the four bytes of its magic number, and the bit for a checksum (RFC 8878, 3.1.1.1). */
const DESCRIPTOR = 4;
const HAS_CHECKSUM = 0b100;

/** The zstd that is part of the program, in WebAssembly: for a Node without its own where the addon was not built. Several times slower than either.
 * See `Codec`. */
export async function loadWasmCodec(level: number) {
  const [{ h64Raw }] = await Promise.all([xxhash(), init()]);
  return {
    name: 'WebAssembly',
    compress(content: Uint8Array): Buffer {
      const frame = compress(content, level);
      const whole = Buffer.allocUnsafe(frame.length + 4);
      whole.set(frame);
      whole.writeUInt8(whole.readUInt8(DESCRIPTOR) | HAS_CHECKSUM, DESCRIPTOR);
      // The lower half of XXH64, little end first (RFC 8878, 3.1.1).
      whole.writeUInt32LE(Number(h64Raw(content) & 0xffffffffn), frame.length);
      return whole;
    },
    decompress(bytes: Buffer, { content, exact }: Pick<Frame, 'content' | 'exact'>): Buffer {
      const raw = decompress(bytes, { defaultHeapSize: Math.max(content, 1) });
      if (exact && raw.length !== content) throw new Error(`A frame of ${content} bytes holds ${raw.length}.`);
      return Buffer.from(raw.buffer, raw.byteOffset, raw.length);
    },
  };
}
