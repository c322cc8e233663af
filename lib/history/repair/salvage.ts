import type { Entry } from '../../chat/entry.js';
import { isJsonObject, isTooDeep, type JsonObject, type JsonValue } from '../../chat/json.js';
import { progress } from '../base/notices.js';
import type { Codec } from '../file/codec.js';
import { decodeEntry } from '../file/decode-entry.js';
import type { ReadBytes } from '../file/frames.js';
import { heartbeat } from '../lock/holder.js';
import { FrameProgress, Inventory, type Item } from './inventory.js';
import { type Merged, mergeConversations, NewIds, renumber } from './join-logs.js';
import { completeElement, isComplete, isElement, numberedElement, plainFrames } from './other-formats.js';
import { joinedTextAt, recoverFrame, scanFrames } from './scan-frames.js';

/** Counts of what was done to the elements of a file. */
export interface SalvageReport {
  /** The format of the file if it is not zstd or not an array. */
  readonly format: string | null;
  /** The number of conversations that were joined in it. */
  readonly parts: number;
  readonly entries: number;
  /** Elements that the record counts and that cannot be read. */
  readonly missing: number;
  /** Elements that can be read, but no checksum verifies them. */
  readonly unverified: number;
  /** Elements that were found more than once. */
  readonly repeated: number;
  /** Elements that are neither messages nor marks. */
  readonly foreign: number;
  /** Elements that lacked fields. */
  readonly changed: number;
  readonly isRenumbered: boolean;
}

/**
 * Recovers every complete element of a file, whatever happened to it, as one conversation: oldest first, each once,
 * with ascending ids. Trusts checksums, and data that is consistent to the last byte. Keeps a few numbers per element
 * in memory, and the text of a few frames.
 */
export class Salvage {
  readonly report: SalvageReport;
  /** The name of the conversation if hi wrote all of it under these ids, else null. */
  readonly log: string | null;
  readonly #inventory: Inventory;
  readonly #merged: Merged;
  readonly #contentAt: (frame: number) => Buffer | null;
  readonly #contents = new Map<number, Buffer>();

  constructor(codec: Codec, read: ReadBytes, size: number) {
    const place = new FrameProgress(size);
    const found = new Inventory(codec, read, place.of(scanFrames(codec, read, size)), place);
    const plain = found.items.length === 0 ? plainFrames(read, size) : null;
    this.#inventory = plain ? new Inventory(codec, read, place.of(plain), place) : found;
    this.#contentAt = (frame) => {
      if (plain) return read(0, size);
      const at = this.#inventory.frames[frame] ?? 0;
      return (joinedTextAt(read, at, size) ?? recoverFrame(codec, read, at, size))?.content ?? null;
    };
    this.#merged = mergeConversations(this.#inventory);
    const { parts } = this.#inventory;
    const [only] = parts;
    this.log = parts.length === 1 && !this.#merged.isRenumbered ? (only?.record?.log ?? null) : null;
    this.report = this.#count(plain ? 'plain JSON' : unreadable(this.#inventory, size));
  }

  /** The trusted entries. */
  *entries(): Generator<Entry> {
    const { items, parts } = this.#inventory;
    const { order, ids, isRenumbered } = this.#merged;
    const newIds = isRenumbered ? new NewIds(items, parts.length, this.#merged) : null;
    const turns = new Map<number, number>();
    for (const [at, index] of order.entries()) {
      const item = items[index];
      const id = ids[at] ?? 0;
      if (!item) continue;
      progress('Saving what can be read', at, order.length);
      if (item.beginsTurn) turns.set(item.part, id);
      const entry = this.#entry(index, item, (value) => {
        const moved = newIds
          ? renumber(numberedElement(value), id, {
              find: (old) => newIds.find(index, old),
              named: (old) => newIds.named(index, old),
            })
          : value;
        return isComplete(value)
          ? moved
          : completeElement(moved, { id, turn: turns.get(item.part) ?? id, at: isoOf(item) });
      });
      if (entry) yield entry;
    }
    progress('Saving what can be read', order.length, order.length);
  }

  /** The entries that can be read but not verified, unchanged, under their own ids if these are in order. */
  *unverified(): Generator<Entry> {
    let last = 0;
    for (const index of this.#merged.unverified) {
      const item = this.#inventory.items[index];
      if (!item) continue;
      last = Math.max(last + 1, item.id ?? 0);
      const id = last;
      const entry = this.#entry(index, item, (value) => ({
        ...completeElement(value, { id, turn: id, at: isoOf(item) }),
        id,
      }));
      if (entry) yield entry;
    }
  }

  /** The entry for an element after `change`. */
  #entry(index: number, item: Item, change: (value: JsonObject) => JsonObject): Entry | null {
    heartbeat();
    const text = this.#inventory.long.get(index) ?? this.#frame(item.frame).subarray(item.start, item.end);
    const value: JsonValue = JSON.parse(text.toString());
    if (!isJsonObject(value) || !isElement(value)) return null;
    const changed = change(value);
    return decodeEntry(changed, () => (changed === value ? text.toString() : textOf(changed, text)));
  }

  /** The content of a frame, cached while the parts alternate. */
  #frame(frame: number): Buffer {
    const held = this.#contents.get(frame);
    if (held) return held;
    const content = this.#contentAt(frame) ?? Buffer.alloc(0);
    if (this.#contents.size > Math.min(this.#inventory.parts.length, 8)) {
      const [oldest] = this.#contents.keys();
      if (oldest !== undefined) this.#contents.delete(oldest);
    }
    this.#contents.set(frame, content);
    return content;
  }

  #count(format: string | null): SalvageReport {
    const { items, parts } = this.#inventory;
    const { order, unverified, repeated, isRenumbered } = this.#merged;
    const found =
      format ?? (parts.every(({ splitter }) => splitter.isObjectLines) ? 'one JSON object after another' : null);
    const joined = new Set(items.filter(({ stale }) => !stale).map(({ part }) => part));
    return {
      format: found,
      parts: joined.size,
      entries: order.length,
      missing: parts.reduce((sum, _, part) => sum + this.#missing(part, found === null), 0),
      unverified: unverified.length,
      repeated: repeated.size,
      foreign: parts.reduce((sum, { skipped }) => sum + skipped, 0),
      changed: order.reduce((sum, index) => sum + (items[index]?.changed ? 1 : 0), 0),
      isRenumbered,
    };
  }

  /**
   * How many elements of a part are missing. hi counts them in its record, and later ids have no gaps; for another
   * program's file, if it is a single one, the gaps in the ids are counted.
   */
  #missing(part: number, isArray: boolean): number {
    const { parts } = this.#inventory;
    const record = parts[part]?.record;
    const { order, unverified, repeated, isRenumbered } = this.#merged;
    if (parts[part]?.isWrittenByHi !== true)
      return isArray && parts.length === 1 && !isRenumbered ? gaps(this.#idsOf(part, [...order, ...unverified])) : 0;
    const used = this.#idsOf(part, [...order, ...repeated.keys()]);
    if (!record) return gaps(used);
    const last = used.reduce((most, id) => Math.max(most, id), 0);
    return Math.max(0, record.facts.entries + Math.max(0, last - record.facts.last) - used.length);
  }

  #idsOf(part: number, indices: readonly number[]): readonly number[] {
    return indices.flatMap((index) => {
      const item = this.#inventory.items[index];
      return item?.part === part ? [item.id ?? 0] : [];
    });
  }
}

/** What a file is that has nothing of a history; null for any other. */
function unreadable({ parts, items }: Inventory, size: number): string | null {
  if (parts.length > 0 || items.length > 0) return null;
  return size === 0 ? 'an empty file' : 'data that is no zstd';
}

/** How many ids are missing between the lowest and the highest of these. */
function gaps(ids: readonly number[]): number {
  if (ids.length === 0) return 0;
  const first = ids.reduce((least, id) => Math.min(least, id), Number.POSITIVE_INFINITY);
  const last = ids.reduce((most, id) => Math.max(most, id), 0);
  return Math.max(0, last - first + 1 - ids.length);
}

/** A changed element as JSON. If it is nested too deeply for that, only the id is replaced in its text. */
function textOf(changed: JsonObject, text: Buffer): string {
  return isTooDeep(changed) ? text.toString().replace(/"id"\s*:\s*\d+/, `"id":${changed.id}`) : JSON.stringify(changed);
}

function isoOf({ time }: Item): string {
  return new Date(time).toISOString();
}
