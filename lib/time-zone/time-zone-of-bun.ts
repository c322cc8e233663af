import { readFileSync } from 'node:fs';
import { offsetFromUtc as offsetOfDate } from './time-zone.js';

/** The file that tells the time zone of this machine. */
const LOCAL_ZONE = '/etc/localtime';

/**
 * As in `time-zone.ts`, which this file replaces in the executable: there a date's first look at the local time takes a
 * start five milliseconds, as Bun loads the time zones of the whole world. The machine's own file answers in a tenth of
 * one; where it cannot, the date does.
 */
export function offsetFromUtc(time: Date): number {
  return offsetInFile(time) ?? offsetOfDate(time);
}

export function isSameDay(one: Date, other: Date): boolean {
  return asShownHere(one).toISOString().slice(0, 10) === asShownHere(other).toISOString().slice(0, 10);
}

export function asShownHere(time: Date): Date {
  return new Date(time.getTime() + offsetFromUtc(time) * 60_000);
}

function offsetInFile(time: Date): number | null {
  if (process.env.TZ !== undefined) return null;
  try {
    return offsetInZone(readFileSync(LOCAL_ZONE), time);
  } catch {
    return null;
  }
}

/** The sizes of what a TZif file holds, in bytes (RFC 9636, section 3). */
const HEADER = 44;
const TIME = 8;
const TYPE = 6;

/**
 * The offset from UTC at a time in a TZif file, in minutes. Null where the file is of version 1 or not whole, before
 * the first change of the offset, and after the last one if the zone goes on changing by a rule.
 */
export function offsetInZone(file: Buffer, time: Date): number | null {
  const block = newerBlock(file);
  if (block === null) return null;
  const { start, changes, types, end } = block;
  const past = changesUntil(file, block, BigInt(Math.floor(time.getTime() / 1000)));
  if (past === 0 && changes > 0) return null;
  if (past === changes && file.indexOf(',', end) >= 0) return null;
  const type = changes === 0 ? 0 : file.readUInt8(start + changes * TIME + past - 1);
  return type < types ? file.readInt32BE(start + changes * (TIME + 1) + type * TYPE) / 60 : null;
}

/**
 * The second half of the file, whose times are not limited to 32 bits: where its table starts and ends, and how many
 * changes and types it has.
 */
interface Block {
  readonly start: number;
  readonly changes: number;
  readonly types: number;
  readonly end: number;
}

function newerBlock(file: Buffer): Block | null {
  if (file.length < HEADER || file.toString('latin1', 0, 4) !== 'TZif' || file[4] === 0) return null;
  const at = sizesAt(file, 0, 4).end;
  if (file.length < at + HEADER) return null;
  const block = sizesAt(file, at, TIME);
  return file.length > block.end && block.types > 0 ? block : null;
}

/** The block whose header is at a place. `time` is the size of its times, in bytes. */
function sizesAt(file: Buffer, at: number, time: number): Block {
  const [utc, standard, leaps, changes, types, letters] = [20, 24, 28, 32, 36, 40].map((place) =>
    file.readUInt32BE(at + place),
  ) as [number, number, number, number, number, number];
  const start = at + HEADER;
  const end = start + changes * (time + 1) + types * TYPE + letters + leaps * (time + 4) + standard + utc;
  return { start, changes, types, end };
}

/** How many changes came before or at a time, in seconds since 1970. */
function changesUntil(file: Buffer, { start, changes }: Block, at: bigint): number {
  let [low, high] = [0, changes];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (file.readBigInt64BE(start + middle * TIME) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}
