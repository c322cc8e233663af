import { HEADER, RECORD, readRecord, SUMS } from './file-layout.js';
import { frameAt, type ReadBytes } from './frame-headers.js';
import type { Codec } from './frames.js';

/** So many bytes of content share one checksum: small enough that one bad byte costs few entries, large enough to cost a thousandth of the file. */
const SLICE = 16 * 1024;

/** No record and no list of checksums is longer. */
const LIMIT = 64 * 1024;

/** The CRC-32 of each slice of a frame's content, by which a damaged frame is salvaged piece by piece. */
export function sumsOf(content: Buffer): number[] {
  return slicesOf(content).map(checksum);
}

/** The checksums that belong to the sealed frame at `offset`: they end right before it. Empty when there are none. */
export function sumsBefore(codec: Codec, read: ReadBytes, offset: number): readonly number[] {
  const start = Math.max(0, offset - LIMIT);
  const before = read(start, offset - start);
  for (let at = before.length - HEADER; at >= 0; at -= 1) {
    const magic = before.readUInt32LE(at);
    if (magic !== SUMS && magic !== RECORD) continue;
    const frame = frameAt((from, length) => before.subarray(from, from + length), at, before.length);
    if (frame === null || at + frame.size !== before.length) continue;
    const bytes = before.subarray(at);
    return magic === RECORD ? (readRecord(codec, bytes)?.sums ?? []) : numbersIn(bytes.subarray(HEADER));
  }
  return [];
}

/** The pieces of a content that are as they were written, each as long as possible. */
export function soundPieces(content: Buffer, sums: readonly number[]): readonly Buffer[] {
  const pieces: Buffer[] = [];
  let start: number | null = null;
  const slices = slicesOf(content);
  slices.forEach((slice, index) => {
    const sound = checksum(slice) === sums[index];
    if (sound) start ??= index * SLICE;
    const ends = start !== null && (!sound || index === slices.length - 1);
    if (start === null || !ends) return;
    pieces.push(content.subarray(start, sound ? content.length : index * SLICE));
    start = null;
  });
  return pieces;
}

function slicesOf(content: Buffer): readonly Buffer[] {
  return Array.from({ length: Math.ceil(content.length / SLICE) }, (_, index) =>
    content.subarray(index * SLICE, (index + 1) * SLICE),
  );
}

/** The CRC-32 of some bytes. */
export function checksum(bytes: Buffer): number {
  return process.getBuiltinModule('node:zlib').crc32(bytes);
}

function numbersIn(bytes: Buffer): readonly number[] {
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readUInt32LE(index * 4));
}
