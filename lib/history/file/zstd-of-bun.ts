import zlib from 'node:zlib';
import { bun } from '../../bun.js';
import { type Frame, withChecksum } from './frames.js';

/** Bun's zstd. It replaces `zstd-addon.ts` in the executable. See `Codec`. */
export function nativeCodec(level: number) {
  return {
    name: `Bun ${process.versions.bun}`,
    compress: (content: Uint8Array): Buffer =>
      withChecksum(bun.zstdCompressSync(content, { level }), bun.hash.xxHash64(content)),
    decompress(bytes: Buffer, { content, exact }: Pick<Frame, 'content' | 'exact'>): Buffer {
      const raw = exact && content <= LARGEST_OF_BUN ? bun.zstdDecompressSync(bytes) : atMost(bytes, content);
      if (exact && raw.length !== content) throw new Error(`A frame of ${content} bytes holds ${raw.length}.`);
      return raw;
    },
  };
}

/** Bun's own function accepts no larger window, and a frame of a known size has none larger than its content. */
const LARGEST_OF_BUN = 2 ** 27;

/** Limits the size, and accepts the window of `zstd --long=31`: Bun's own function has no options for either. */
function atMost(bytes: Buffer, most: number): Buffer {
  const ours: object = zlib;
  if (!hasZstd(ours)) throw new Error('This Bun has no zstd.');
  const params = { [ours.constants.ZSTD_d_windowLogMax]: 31 };
  return ours.zstdDecompressSync(bytes, { params, maxOutputLength: Math.max(most, 1) });
}

interface LimitedZstd {
  readonly constants: { readonly ZSTD_d_windowLogMax: number };
  zstdDecompressSync(bytes: Uint8Array, options: { readonly params: object; readonly maxOutputLength: number }): Buffer;
}

function hasZstd(zlib: object): zlib is LimitedZstd {
  return 'zstdDecompressSync' in zlib;
}
