import { fdatasync, fdatasyncSync, fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs';
import type { Codec } from './codec.js';
import { Damaged } from './damaged.js';
import type { Frame, ReadBytes } from './frame-headers.js';

/** The read-ahead: large enough that walking headers takes few reads, small enough that large frames are not read for their headers. */
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
