import { crc32 as sumOf } from 'node:zlib';
import { type Entry, isAside, isCompressBlock, isMessage } from '../../chat/entry.js';
import type { Codec } from './codec.js';
import { DATA_MAGIC, type Frame, frameAt, type ReadBytes } from './frames.js';

/**
 * The magic numbers of skippable frames: unused space, hi's record, checksums, and the seek table of zstd's seekable
 * format.
 */
export const SPACE_MAGIC = 0x184d2a50;
export const RECORD_MAGIC = 0x184d2a51;
export const CHECKSUMS_MAGIC = 0x184d2a52;
const TABLE_MAGIC = 0x184d2a5e;

/** The last four bytes of a seek table. */
const SEEKABLE_MAGIC = 0x8f92eab1;
/** The end of a seek table: the number of rows, a descriptor and the magic number. */
const FOOTER_SIZE = 9;
const ROW_SIZE = 8;

/** Every skippable frame begins with its magic number and the size of its body. */
export const HEADER_SIZE = 8;

/** The frames that hold `[` and `]`: two empty blocks pad them to sixteen bytes, so that the next frame is aligned. */
export const OPENING = bracketFrame('[');
export const CLOSING = bracketFrame(']');
export const BRACKET_SIZE = OPENING.length;

/** The part that every append rewrites after its frame: the closing frame and the header of the space after it. */
export const END_SIZE = BRACKET_SIZE + HEADER_SIZE;

/**
 * The file size is a multiple of this: any other size shows that the file was cut off or extended by another program.
 */
export const FILE_BLOCK = 512;

/** A kill never splits a write that stays within one page. */
export const PAGE_SIZE = 4096;

/** One frame in the seek table: its bytes in the file, and what it decompresses to (0 for a skippable frame). */
export interface SeekRow {
  readonly size: number;
  readonly content: number;
}

/** The record: facts about the frames before it and the one right after it. */
export interface RecordBody {
  /** The version of this format. */
  readonly hi: 1;
  /** The name of the log. It stays when the file is rewritten and changes after a reset. */
  readonly log: string;
  /** The facts of all entries up to the end of the sealed frame after the record. */
  readonly facts: Facts;
  /** The offset of the frame with the first entry that the view needs; null if it comes after the record. */
  readonly needed: number | null;
  /** Checksums of the sealed frame after the record, like those in a `SUMS` frame; empty when there is none. */
  readonly sums: readonly number[];
}

/** The first eight bytes of a skippable frame. */
export function skippableHeader(magic: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_SIZE);
  bytes.writeUInt32LE(magic, 0);
  bytes.writeUInt32LE(size, 4);
  return bytes;
}

/** A record, padded so that the position `following` bytes after it is a multiple of eight. */
export function recordFrame(codec: Codec, body: RecordBody, following: number): Buffer {
  const inner = codec.compress(Buffer.from(JSON.stringify(body)));
  const padding = Buffer.alloc(-(HEADER_SIZE + inner.length + following) & 7);
  return Buffer.concat([skippableHeader(RECORD_MAGIC, inner.length + padding.length), inner, padding]);
}

/** The body of a record, null when it is damaged or of an unknown version. */
export function readRecord(codec: Codec, bytes: Buffer): RecordBody | null {
  const read: ReadBytes = (offset, length) => bytes.subarray(offset, offset + length);
  const inner = frameAt(read, HEADER_SIZE, bytes.length);
  // A record that became space keeps its content, but the frame is longer; one of a wrong size ends in the frame after
  // it.
  if (inner?.kind !== 'data') return null;
  const padding = bytes.subarray(HEADER_SIZE + inner.size);
  if (padding.length > 7 || padding.some((byte) => byte !== 0)) return null;
  try {
    const body: unknown = JSON.parse(
      codec.decompress(bytes.subarray(HEADER_SIZE, HEADER_SIZE + inner.size), inner).toString(),
    );
    return isRecordBody(body) ? body : null;
  } catch {
    return null;
  }
}

function isRecordBody(value: unknown): value is RecordBody {
  if (typeof value !== 'object' || value === null) return false;
  if (!('hi' in value && 'log' in value && 'facts' in value && 'needed' in value)) return false;
  if (value.hi !== 1 || typeof value.log !== 'string') return false;
  if (!('sums' in value) || !Array.isArray(value.sums)) return false;
  return isFacts(value.facts) && (value.needed === null || Number.isSafeInteger(value.needed));
}

/** The amount of space that a file of that size reserves for appends. */
export function spaceFor(size: number): number {
  return Math.floor(Math.min(Math.max(size / 32, FILE_BLOCK), 16 * PAGE_SIZE));
}

/** The smallest valid file size for this many bytes. */
export function roundUpToBlock(bytes: number): number {
  return Math.ceil(bytes / FILE_BLOCK) * FILE_BLOCK;
}

/** The row of a frame. */
export function rowOf(frame: Frame): SeekRow {
  return { size: frame.size, content: frame.kind === 'data' ? frame.content : 0 };
}

/** The size of a seek table with that many rows. */
export function tableSize(rows: number): number {
  return HEADER_SIZE + rows * ROW_SIZE + FOOTER_SIZE;
}

/** A seek table in zstd's seekable format. */
export function tableFrame(rows: readonly SeekRow[]): Buffer {
  const bytes = Buffer.alloc(tableSize(rows.length));
  bytes.writeUInt32LE(TABLE_MAGIC, 0);
  bytes.writeUInt32LE(bytes.length - HEADER_SIZE, 4);
  rows.forEach((row, index) => {
    bytes.writeUInt32LE(row.size, HEADER_SIZE + index * ROW_SIZE);
    bytes.writeUInt32LE(row.content, HEADER_SIZE + index * ROW_SIZE + 4);
  });
  bytes.writeUInt32LE(rows.length, bytes.length - FOOTER_SIZE);
  bytes.writeUInt32LE(SEEKABLE_MAGIC, bytes.length - 4);
  return bytes;
}

/** The rows of the seek table that ends at `end`, or null when there is none. */
export function readTable(read: ReadBytes, end: number): SeekRow[] | null {
  const table = tableBefore(read, end);
  if (table === null) return null;
  const bytes = read(table.offset, end - table.offset);
  if (bytes.length < end - table.offset) return null;
  const rows: SeekRow[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset + HEADER_SIZE);
  for (let at = 0; at < table.rows * ROW_SIZE; at += ROW_SIZE) {
    rows.push({ size: view.getUint32(at, true), content: view.getUint32(at + 4, true) });
  }
  return rows;
}

/**
 * The offset that the last row of the seek table ending at `end` describes. Null if there is no table, or if its other
 * rows do not reach exactly that offset, as in a file that was joined to another one.
 */
export function readMutableStart(read: ReadBytes, end: number): number | null {
  const table = tableBefore(read, end);
  if (table === null || table.rows === 0) return null;
  const rows = read(table.offset + HEADER_SIZE, table.rows * ROW_SIZE);
  if (rows.length < table.rows * ROW_SIZE) return null;
  const last = rows.length - ROW_SIZE;
  const start = table.offset - rows.readUInt32LE(last);
  let covered = 0;
  for (let at = 0; at < last; at += ROW_SIZE) covered += rows.readUInt32LE(at);
  return start < BRACKET_SIZE || covered !== start ? null : start;
}

function tableBefore(read: ReadBytes, end: number): { readonly offset: number; readonly rows: number } | null {
  if (end < tableSize(0)) return null;
  const footer = read(end - FOOTER_SIZE, FOOTER_SIZE);
  if (footer.length < FOOTER_SIZE || footer.readUInt32LE(5) !== SEEKABLE_MAGIC || footer.readUInt8(4) !== 0)
    return null;
  const rows = footer.readUInt32LE(0);
  const offset = end - tableSize(rows);
  if (offset < BRACKET_SIZE) return null;
  const head = read(offset, HEADER_SIZE);
  return head.equals(skippableHeader(TABLE_MAGIC, tableSize(rows) - HEADER_SIZE)) ? { offset, rows } : null;
}

function bracketFrame(character: string): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32LE(DATA_MAGIC, 0);
  bytes.writeUInt8(0x20, 4); // one segment, one byte of content size, no checksum
  bytes.writeUInt8(1, 5);
  bytes.writeUIntLE(0, 6, 3); // an empty block that is not the last
  bytes.writeUIntLE(0, 9, 3);
  bytes.writeUIntLE((1 << 3) | 1, 12, 3); // the last block: one byte as it is
  bytes.write(character, 15, 'latin1');
  return bytes;
}

/** Totals of the whole log, known without reading it. */
export interface Facts {
  /** All entries. */
  readonly entries: number;
  readonly messages: number;
  /** How many of the messages are asides; absent for none. */
  readonly asides?: number;
  readonly compactions: number;
  /** How many of them take an earlier one back; absent for none. */
  readonly restores?: number;
  /** When the newest compaction was, ISO 8601; null when there was none. */
  readonly last_compaction: string | null;
  /** The id of the newest entry, 0 when there is none. */
  readonly last: number;
}

export const NO_FACTS: Facts = { entries: 0, messages: 0, compactions: 0, last_compaction: null, last: 0 };

/** The facts after one more entry. */
export function withEntry(facts: Facts, entry: Entry): Facts {
  const compaction = isCompressBlock(entry);
  const asides = (facts.asides ?? 0) + (isMessage(entry) && isAside(entry) ? 1 : 0);
  const restores = (facts.restores ?? 0) + (compaction && entry.restores !== undefined ? 1 : 0);
  return {
    entries: facts.entries + 1,
    messages: facts.messages + (isMessage(entry) ? 1 : 0),
    ...(asides > 0 && { asides }),
    compactions: facts.compactions + (compaction ? 1 : 0),
    ...(restores > 0 && { restores }),
    last_compaction: compaction && entry.restores === undefined ? entry.at : facts.last_compaction,
    last: entry.id,
  };
}

/** True for a stored value that is valid. */
export function isFacts(value: unknown): value is Facts {
  if (typeof value !== 'object' || value === null) return false;
  if (!('entries' in value && 'messages' in value && 'compactions' in value && 'last' in value)) return false;
  if (!('last_compaction' in value)) return false;
  const asides = 'asides' in value ? value.asides : 0;
  const restores = 'restores' in value ? value.restores : 0;
  const counts = [value.entries, value.messages, asides, restores, value.compactions, value.last];
  const when = value.last_compaction;
  return counts.every((count) => Number.isSafeInteger(count)) && (when === null || typeof when === 'string');
}

/**
 * The number of bytes per checksum: small enough that a bad byte costs few entries, large enough that the checksums
 * take a thousandth of the file.
 */
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

/** The entries after `change`, which returns null to drop one. */
export function* changedEntries(entries: Iterable<Entry>, change: (entry: Entry) => Entry | null): Generator<Entry> {
  for (const entry of entries) {
    const changed = change(entry);
    if (changed !== null) yield changed;
  }
}

/** The entries of all groups, one by one. */
export function* flattenEntries(groups: Iterable<readonly Entry[]>): Generator<Entry> {
  for (const entries of groups) yield* entries;
}
