import type { Readable } from 'node:stream';

/** The body without the compression that `headers` name; the two headers about it are removed. A body in an unknown encoding stays as it is. */
export function decompressed(body: Readable, headers: Headers): Readable {
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  const decoder = decoderFor(encoding);
  if (decoder === null) return body;
  headers.delete('content-encoding');
  headers.delete('content-length');
  return process.getBuiltinModule('node:stream').pipeline(body, decoder, () => {
    // A failure of either reaches the reader as an error of the decoder, which is the stream that is read.
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
