import type { ByteStream } from './byte-stream.js';

/** The decompressed body. Removes the two headers about the compression. A body in an unknown encoding is returned unchanged. */
export function decompressed(body: ByteStream, headers: Headers): ByteStream {
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  const decoder = decoderFor(encoding);
  if (decoder === null) return body;
  headers.delete('content-encoding');
  headers.delete('content-length');
  return process.getBuiltinModule('node:stream').pipeline(body, decoder, () => {
    // The reader reads the decoder, which reports the errors of both streams.
  });
}

function decoderFor(encoding: string) {
  if (encoding === 'identity') return null;
  const zlib = process.getBuiltinModule('node:zlib');
  if (encoding === 'gzip' || encoding === 'x-gzip') return zlib.createGunzip({ flush: zlib.constants.Z_SYNC_FLUSH });
  if (encoding === 'deflate') return zlib.createInflate({ flush: zlib.constants.Z_SYNC_FLUSH });
  if (encoding === 'br') return zlib.createBrotliDecompress({ flush: zlib.constants.BROTLI_OPERATION_FLUSH });
  return null;
}
