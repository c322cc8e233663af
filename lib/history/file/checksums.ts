import { crc32 as sumOf } from 'node:zlib';
import { CHECKSUMS_MAGIC, HEADER_SIZE, RECORD_MAGIC, readRecord } from './file-layout.js';
import type { Codec } from './frames/codec.js';
import { frameAt, type ReadBytes } from './frames/frame-headers.js';

/** The number of bytes per checksum: small enough that a bad byte costs few entries, large enough that the checksums take a thousandth of the file. */
const SLICE_SIZE = 16 * 1024;

/** How far back to search: no record and no list of checksums is longer. */
const SEARCH_LIMIT = 64 * 1024;

/** The CRC-32 of each slice of a frame's content. They make it possible to salvage a damaged frame slice by slice. */
export function checksumsOf(content: Buffer): number[] {
  return slicesOf(content).map(crc32);
}

/** The checksums of the sealed frame at `offset`, which end right before it. Empty when there are none. */
export function checksumsBefore(codec: Codec, read: ReadBytes, offset: number): readonly number[] {
  const start = Math.max(0, offset - SEARCH_LIMIT);
  const before = read(start, offset - start);
  for (let at = before.length - HEADER_SIZE; at >= 0; at -= 1) {
    const magic = before.readUInt32LE(at);
    if (magic !== CHECKSUMS_MAGIC && magic !== RECORD_MAGIC) continue;
    const frame = frameAt((from, length) => before.subarray(from, from + length), at, before.length);
    if (frame === null || at + frame.size !== before.length) continue;
    const bytes = before.subarray(at);
    return magic === RECORD_MAGIC ? (readRecord(codec, bytes)?.sums ?? []) : numbersIn(bytes.subarray(HEADER_SIZE));
  }
  return [];
}

/** The intact pieces of a content, each as long as possible. */
export function intactPieces(content: Buffer, sums: readonly number[]): readonly Buffer[] {
  const pieces: Buffer[] = [];
  let start: number | null = null;
  const slices = slicesOf(content);
  slices.forEach((slice, index) => {
    const isIntact = crc32(slice) === sums[index];
    if (isIntact) start ??= index * SLICE_SIZE;
    const ends = start !== null && (!isIntact || index === slices.length - 1);
    if (start === null || !ends) return;
    pieces.push(content.subarray(start, isIntact ? content.length : index * SLICE_SIZE));
    start = null;
  });
  return pieces;
}

function slicesOf(content: Buffer): readonly Buffer[] {
  return Array.from({ length: Math.ceil(content.length / SLICE_SIZE) }, (_, index) =>
    content.subarray(index * SLICE_SIZE, (index + 1) * SLICE_SIZE),
  );
}

/** The CRC-32 of some bytes. */
export function crc32(bytes: Buffer): number {
  return sumOf(bytes);
}

function numbersIn(bytes: Buffer): readonly number[] {
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readUInt32LE(index * 4));
}
