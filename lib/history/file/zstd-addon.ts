import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type * as Native from 'zstd-napi/binding.js';
import type { Frame } from './frames.js';

function isNative(module: unknown): module is typeof Native {
  return typeof module === 'object' && module !== null && 'CCtx' in module && 'DCtx' in module;
}

/**
 * Loads the addon directly if it is in its usual place, else through its package. Resolving the package takes five
 * times as long as loading the addon, and the package's entry point also loads streams and assertions.
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
  return createRequire(here)('zstd-napi/binding.js');
}

/** The zstd of the addon, null if it was not built. See `Codec`. */
export function nativeCodec(level: number) {
  try {
    const zstd = loadAddon();
    if (!isNative(zstd)) return null;
    const writer = new zstd.CCtx();
    writer.setParameter(zstd.CParameter.compressionLevel, level);
    writer.setParameter(zstd.CParameter.checksumFlag, 1);
    const reader = new zstd.DCtx();
    return {
      name: 'zstd-napi',
      compress(content: Uint8Array): Buffer {
        const frame = Buffer.allocUnsafe(zstd.compressBound(content.length));
        return frame.subarray(0, writer.compress2(frame, content));
      },
      decompress(bytes: Buffer, { content, exact }: Pick<Frame, 'content' | 'exact'>, room?: Buffer): Buffer {
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
