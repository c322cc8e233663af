import { bun } from '../../../bun.js';
import type { Frame } from './frame-headers.js';
import { withChecksum } from './with-checksum.js';

/** Bun's zstd. It replaces `zstd-addon.ts` in the executable. See `Codec`. */
export function nativeCodec(level: number) {
  return {
    name: `Bun ${process.versions.bun}`,
    compress: (content: Uint8Array): Buffer =>
      withChecksum(bun.zstdCompressSync(content, { level }), bun.hash.xxHash64(content)),
    decompress(bytes: Buffer, { content, exact }: Pick<Frame, 'content' | 'exact'>): Buffer {
      const raw = exact ? bun.zstdDecompressSync(bytes) : atMost(bytes, content);
      if (exact && raw.length !== content) throw new Error(`A frame of ${content} bytes holds ${raw.length}.`);
      return raw;
    },
  };
}

/** Limits the size, because Bun has no option for it. */
function atMost(bytes: Buffer, most: number): Buffer {
  const zlib: object = process.getBuiltinModule('node:zlib');
  if (!hasZstd(zlib)) throw new Error('This Bun has no zstd.');
  return zlib.zstdDecompressSync(bytes, { maxOutputLength: Math.max(most, 1) });
}

interface LimitedZstd {
  zstdDecompressSync(bytes: Uint8Array, options: { readonly maxOutputLength: number }): Buffer;
}

function hasZstd(zlib: object): zlib is LimitedZstd {
  return 'zstdDecompressSync' in zlib;
}
