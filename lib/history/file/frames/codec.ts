import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type * as Native from 'zstd-napi/binding.js';
import type { Frame } from './frame-headers.js';

/** Compresses to zstd frames and back. Every frame it makes has the size of its content and a checksum. */
export interface Codec {
  /** Which zstd this is, for the user. */
  readonly name: string;
  compress(content: Uint8Array): Buffer;
  /** The content of one data frame, of which `bytes` are all the bytes; it may be written into `room`. Throws when the frame is damaged. */
  decompress(bytes: Buffer, frame: Pick<Frame, 'content' | 'exact'>, room?: Buffer): Buffer;
}

/** Level 3 is zstd's own default: higher ones cost several times the time for a few percent. */
const LEVEL = 3;

let prepared: Codec | null = null;

/**
 * Finds the zstd of this machine: the native addon, else the one in Node, else the one in WebAssembly, which takes a moment to load. Await it before
 * `loadCodec`.
 */
export async function prepareCodec(): Promise<Codec> {
  prepared ??= nativeCodec() ?? builtinCodec() ?? (await (await import('./wasm-codec.js')).loadWasmCodec(LEVEL));
  return prepared;
}

/** The zstd of this machine. Throws where neither the addon nor Node has one and `prepareCodec` was not awaited. */
export function loadCodec(): Codec {
  prepared ??= nativeCodec() ?? builtinCodec();
  if (prepared === null) throw new Error('zstd was not prepared.');
  return prepared;
}

function isNative(module: unknown): module is typeof Native {
  return typeof module === 'object' && module !== null && 'CCtx' in module && 'DCtx' in module;
}

/**
 * The addon by itself where it is in its usual place, else through the thin layer of the package. What looks for packages costs five times as much as
 * loading the addon, and the package's front door loads streams and assertions on top.
 */
function loadAddon(): unknown {
  const here = fileURLToPath(import.meta.url);
  for (let folder = dirname(here); folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, 'node_modules', 'zstd-napi', 'build', 'Release', 'binding.node');
    if (!existsSync(file)) continue;
    const addon: { exports: unknown } = { exports: {} };
    process.dlopen(addon, file);
    return addon.exports;
  }
  return process.getBuiltinModule('node:module').createRequire(here)('zstd-napi/binding.js');
}

function nativeCodec(): Codec | null {
  try {
    const zstd = loadAddon();
    if (!isNative(zstd)) return null;
    const writer = new zstd.CCtx();
    writer.setParameter(zstd.CParameter.compressionLevel, LEVEL);
    writer.setParameter(zstd.CParameter.checksumFlag, 1);
    const reader = new zstd.DCtx();
    return {
      name: 'zstd-napi',
      compress(content) {
        const frame = Buffer.allocUnsafe(zstd.compressBound(content.length));
        return frame.subarray(0, writer.compress2(frame, content));
      },
      decompress(bytes, { content, exact }, room) {
        const raw = room !== undefined && room.length >= content ? room : Buffer.allocUnsafe(content);
        const length = reader.decompress(raw, bytes);
        if (exact && length !== content) throw new Error(`A frame of ${content} bytes holds ${length}.`);
        return raw.subarray(0, length);
      },
    };
  } catch {
    return null;
  }
}

/** In `node:zlib` since Node 22.15; the types of Node 20 lack it. */
interface BuiltinZstd {
  readonly constants: { readonly ZSTD_c_checksumFlag: number; readonly ZSTD_c_compressionLevel: number };
  zstdCompressSync(content: Uint8Array, options: object): Buffer;
  zstdDecompressSync(bytes: Uint8Array, options: object): Buffer;
}

function hasZstd(zlib: object): zlib is BuiltinZstd {
  return 'zstdCompressSync' in zlib && 'zstdDecompressSync' in zlib;
}

function builtinCodec(): Codec | null {
  const zlib: object = process.getBuiltinModule('node:zlib');
  if (!hasZstd(zlib)) return null;
  const { ZSTD_c_checksumFlag: checksum, ZSTD_c_compressionLevel: level } = zlib.constants;
  const params = { [checksum]: 1, [level]: LEVEL };
  return {
    name: `Node ${process.versions.node}`,
    compress: (content) => zlib.zstdCompressSync(content, { params, pledgedSrcSize: content.length }),
    decompress(bytes, { content, exact }) {
      const raw = zlib.zstdDecompressSync(bytes, { maxOutputLength: Math.max(content, 1) });
      if (exact && raw.length !== content) throw new Error(`A frame of ${content} bytes holds ${raw.length}.`);
      return raw;
    },
  };
}
