import zlib from 'node:zlib';
import type { Frame } from './frame-headers.js';
import { nativeCodec } from './zstd-addon.js';

/** Compresses and decompresses zstd frames. Every new frame includes its content size and a checksum. */
export interface Codec {
  /** The name of this zstd, for the user. */
  readonly name: string;
  compress(content: Uint8Array): Buffer;
  /** The content of one complete data frame, possibly in the buffer `room`. Throws when the frame is damaged. */
  decompress(bytes: Buffer, frame: Pick<Frame, 'content' | 'exact'>, room?: Buffer): Buffer;
}

/** Level 3 is zstd's own default: higher ones cost several times the time for a few percent. */
const LEVEL = 3;

/** The largest window that `zstd --long=31` writes. By default Node accepts only 2^27 bytes; what it allocates is bounded by the blocks of a frame. */
const LARGEST_WINDOW_LOG = 31;

let prepared: Codec | null = null;

/**
 * Finds zstd on this machine: the native addon, else Node's, else the WebAssembly one, which takes a moment to load. Await it before
 * `loadCodec`.
 */
export async function prepareCodec(): Promise<Codec> {
  prepared ??= nativeCodec(LEVEL) ?? builtinCodec() ?? (await (await import('./wasm-codec.js')).loadWasmCodec(LEVEL));
  return prepared;
}

/** The zstd of this machine. Throws if neither the addon nor Node has one and `prepareCodec` was not awaited. */
export function loadCodec(): Codec {
  prepared ??= nativeCodec(LEVEL) ?? builtinCodec();
  if (prepared === null) throw new Error('zstd was not prepared.');
  return prepared;
}

/** In `node:zlib` since Node 22.15; the types of Node 20 lack it. */
interface BuiltinZstd {
  readonly constants: {
    readonly ZSTD_c_checksumFlag: number;
    readonly ZSTD_c_compressionLevel: number;
    readonly ZSTD_d_windowLogMax: number;
  };
  zstdCompressSync(content: Uint8Array, options: object): Buffer;
  zstdDecompressSync(bytes: Uint8Array, options: object): Buffer;
}

function hasZstd(zlib: object): zlib is BuiltinZstd {
  return 'zstdCompressSync' in zlib && 'zstdDecompressSync' in zlib;
}

function builtinCodec(): Codec | null {
  const ours: object = zlib;
  if (!hasZstd(ours)) return null;
  const { ZSTD_c_checksumFlag: checksum, ZSTD_c_compressionLevel: level, ZSTD_d_windowLogMax: window } = ours.constants;
  const params = { [checksum]: 1, [level]: LEVEL };
  const reading = { [window]: LARGEST_WINDOW_LOG };
  return {
    name: `Node ${process.versions.node}`,
    compress: (content) => ours.zstdCompressSync(content, { params, pledgedSrcSize: content.length }),
    decompress(bytes, { content, exact }) {
      const raw = ours.zstdDecompressSync(bytes, { params: reading, maxOutputLength: Math.max(content, 1) });
      if (exact && raw.length !== content) throw new Error(`A frame of ${content} bytes holds ${raw.length}.`);
      return raw;
    },
  };
}
