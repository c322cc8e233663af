import { fdatasync, fdatasyncSync, fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs';
import zlib from 'node:zlib';
import { Damaged, type Frame, type ReadBytes } from './frames.js';
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

/**
 * The largest window that `zstd --long=31` writes. By default Node accepts only 2^27 bytes; what it allocates is
 * bounded by the blocks of a frame.
 */
const LARGEST_WINDOW_LOG = 31;

let prepared: Codec | null = null;

/**
 * Finds zstd on this machine: the native addon, else Node's, else the WebAssembly one, which takes a moment to load.
 * Await it before `loadCodec`.
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

/**
 * The read-ahead: large enough that walking headers takes few reads, small enough that large frames are not read for
 * their headers.
 */
const READ_AHEAD = 16 * 1024;

/** The bytes of a file from `offset`, fewer than `length` only at its end. */
export function readAt(file: number, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(file, bytes, filled, length - filled, offset + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

let room = Buffer.allocUnsafeSlow(0);

/** Reads one part of a file at once. The result is valid until any caller reads the next part. */
export function partReader(file: number, start: number, size: number): ReadBytes {
  if (room.length < size) room = Buffer.allocUnsafeSlow(2 * size);
  let filled = 0;
  while (filled < size) {
    const count = readSync(file, room, filled, size - filled, start + filled);
    if (count === 0) break;
    filled += count;
  }
  const part = room.subarray(0, filled);
  return (offset, length) => part.subarray(offset - start, offset - start + length);
}

/** Writes all the bytes at `offset`. When it throws a system error an unknown part was written. */
export function writeAt(file: number, bytes: Uint8Array, offset: number): void {
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(file, bytes, written, bytes.length - written, offset + written);
  }
}

/** A reader for many small reads close together. It returns views that must not be changed. */
export function bufferedReader(file: number, ahead = READ_AHEAD): ReadBytes {
  let start = 0;
  let buffer: Buffer = Buffer.alloc(0);
  return (offset, length) => {
    const within = offset - start;
    if (within >= 0 && within + length <= buffer.length) return buffer.subarray(within, within + length);
    start = offset;
    buffer = readAt(file, offset, Math.max(length, ahead));
    return buffer.subarray(0, Math.min(length, buffer.length));
  };
}

/** The content of a data frame, possibly in the buffer `room`. Throws `Damaged` when it cannot be decompressed. */
export function decompressFrame(
  codec: Codec,
  read: ReadBytes,
  frame: Pick<Frame, 'offset' | 'size' | 'content' | 'exact'>,
  room?: Buffer,
): Buffer {
  try {
    return codec.decompress(read(frame.offset, frame.size), frame, room);
  } catch (cause) {
    throw new Damaged(`The frame at byte ${frame.offset} cannot be decompressed.`, { cause });
  }
}

/** Returns when everything written to the file is on its disk. */
export function syncData(file: number): void {
  fdatasyncSync(file);
}

/** Resolves when everything written to the file is on its disk. */
export function syncDataAsync(file: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(file, (error) => (error === null ? resolve() : reject(error)));
  });
}

/** Truncates the file to `size` bytes. */
export function truncateFile(file: number, size: number): void {
  ftruncateSync(file, size);
}

/** The current size of a file in bytes. */
export function fileSize(file: number): number {
  return fstatSync(file).size;
}
