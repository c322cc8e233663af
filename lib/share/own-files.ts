import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../chat/json.js';
import { heartbeat } from '../history/lock/holder.js';
import { openedFile, placeOf, type SharedFolder } from './news.js';
import { packed, sealFile } from './sealed-file.js';
import { ATTACHMENTS, filesIn, isUnfinished, itemFileName, numbersIn, writeShared } from './shared-folder.js';

/** So many files that are smaller than this become one, so that a folder never has many. Bytes. */
const MANY = 64;
const SMALL = 128 * 1024;

/** What is in the folder, beside what is remembered of it. */
interface Compared {
  readonly lacks: boolean;
  readonly read: readonly string[];
  readonly hasOthers: boolean;
}

/** The files of this machine with their sizes, in bytes. */
type Sizes = Readonly<Record<string, number>>;

/**
 * The files that this machine has written: numbered, and never changed. Only under the lock. Methods throw the system's
 * errors.
 */
export class OwnFiles {
  readonly #folder: SharedFolder;
  readonly #name: string;
  readonly #path: string;

  /** `name` is the user's name for this machine. */
  constructor(folder: SharedFolder, name: string) {
    this.#folder = folder;
    this.#name = name;
    this.#path = join(folder.path, folder.machine);
  }

  /** The number of the newest item in the folder, which may be newer than what this machine remembers. */
  get newest(): number {
    return newestIn(this.#listed());
  }

  #listed(): readonly string[] {
    return existsSync(this.#path) ? readdirSync(this.#path) : [];
  }

  #removeUnfinished(listed: readonly string[]): void {
    for (const name of listed.filter(isUnfinished)) rmSync(join(this.#path, name), { force: true });
  }

  /** The sizes of these files of this machine, as far as they are hi's. */
  sizesOf(names: readonly string[]): Sizes {
    const own = names.filter((name) => numbersIn(name) !== null);
    return Object.fromEntries(
      own.map((name) => [name, statSync(join(this.#path, name), { throwIfNoEntry: false })?.size ?? 0]),
    );
  }

  /**
   * Whether one of these files is gone, which of those that were `read` are still there, and whether there are others.
   */
  compare(sizes: Sizes, read: readonly string[]): Compared {
    const there = new Set(this.#listed().filter((name) => !name.startsWith('.') && name !== ATTACHMENTS));
    const left = read.filter((name) => there.has(name));
    const lacks = Object.keys(sizes).some((name) => !there.has(name));
    return { lacks, read: left, hasOthers: left.length < there.size };
  }

  /**
   * Writes the items as one file. They have the numbers after `given`, or after the newest one there. Removes what a
   * kill has left.
   */
  write(
    items: readonly string[],
    given: number,
  ): { readonly name: string; readonly size: number; readonly last: number } {
    const listed = this.#listed();
    this.#removeUnfinished(listed);
    const before = Math.max(given, newestIn(listed));
    const last = before + items.length;
    return { ...this.#write(items, before + 1, last), last };
  }

  #write(items: readonly string[], first: number, last: number): { readonly name: string; readonly size: number } {
    const text = `{"name":${JSON.stringify(this.#name)},"first":${first},"last":${last},"items":[${items.join(',')}]}`;
    const { key, codec, machine } = this.#folder;
    const bytes = sealFile(key, placeOf(this.#folder, machine), packed(codec, text));
    const name = itemFileName(first, last);
    writeShared(this.#path, name, bytes);
    return { name, size: bytes.length };
  }

  /** Writes a file without items for numbers that are in none, so that nobody waits for them. */
  fill(sizes: Sizes): Sizes {
    const numbers = Object.keys(sizes).flatMap((name) => numbersIn(name) ?? []);
    let [kept, next] = [sizes, 1];
    for (const { first, last } of numbers.sort((one, other) => one.first - other.first)) {
      const made = first > next ? this.#write([], next, first - 1) : null;
      if (made !== null) kept = { ...kept, [made.name]: made.size };
      next = Math.max(next, last + 1);
    }
    return kept;
  }

  /** Makes one of many small files; the new one is there before the old ones go. Returns the files as they are then. */
  pack(sizes: Sizes): Sizes {
    const small = Object.keys(sizes).filter((name) => (sizes[name] ?? 0) < SMALL);
    return small.length < MANY ? sizes : this.#replace(sizes, small, (item) => item);
  }

  /**
   * Replaces the files in which `change` changes an item, or drops it with null: also copies of them, and what a kill
   * has left.
   */
  clean(sizes: Sizes, change: (item: JsonObject) => JsonObject | null): Sizes {
    this.#removeUnfinished(this.#listed());
    const names = new Set([...Object.keys(sizes), ...filesIn(this.#path).names]);
    return [...names].reduce((kept, name) => {
      heartbeat();
      const content = openedFile(this.#folder, this.#folder.machine, name);
      if (typeof content === 'string' || content.items.every((item) => change(item) === item)) return kept;
      return this.#replace(kept, [name], change);
    }, sizes);
  }

  #replace(sizes: Sizes, names: readonly string[], change: (item: JsonObject) => JsonObject | null): Sizes {
    const read = names.flatMap((name) => {
      const content = openedFile(this.#folder, this.#folder.machine, name);
      return typeof content === 'string' ? [] : [{ name, content }];
    });
    const inOrder = read.sort((one, other) => one.content.first - other.content.first);
    const changed = inOrder.flatMap(({ content }) => content.items.map(change)).filter((item) => item !== null);
    // Only the newest summary is ever used.
    const newest = changed.findLast(({ kind }) => kind === 'block');
    const items = changed.filter((item) => item.kind !== 'block' || item === newest);
    const first = inOrder[0]?.content.first ?? 1;
    const last = inOrder.reduce((most, { content }) => Math.max(most, content.last), first);
    const made = this.#write(
      items.map((item) => JSON.stringify(item)),
      first,
      last,
    );
    const kept = { ...sizes, [made.name]: made.size };
    for (const { name } of read) {
      rmSync(join(this.#path, name), { force: true });
      delete kept[name];
    }
    return kept;
  }
}

const newestIn = (names: readonly string[]): number =>
  names.reduce((most, name) => Math.max(most, numbersIn(name)?.last ?? 0), 0);
