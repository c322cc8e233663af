import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../chat/json.js';
import { heartbeat } from '../history/lock/holder.js';
import { openedFile, placeOf, type SharedFolder } from './news.js';
import { packed, sealFile } from './sealed-file.js';
import { filesIn, itemFileName, numbersIn, removeUnfinished, writeShared } from './shared-folder.js';

/** So many files that are smaller than this become one, so that a folder never has many. Bytes. */
const MANY = 64;
const SMALL = 128 * 1024;

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
    return filesIn(this.#path).names.reduce((most, name) => Math.max(most, numbersIn(name)?.last ?? 0), 0);
  }

  /** The sizes of these files of this machine, as far as they are hi's. */
  sizesOf(names: readonly string[]): Sizes {
    const own = names.filter((name) => numbersIn(name) !== null);
    return Object.fromEntries(
      own.map((name) => [name, statSync(join(this.#path, name), { throwIfNoEntry: false })?.size ?? 0]),
    );
  }

  /** Whether a file is gone. */
  lacks(sizes: Sizes): boolean {
    const there = new Set(filesIn(this.#path).names);
    // Where too much else is there, it was not listed.
    return Object.keys(sizes).some((name) => !there.has(name) && !existsSync(join(this.#path, name)));
  }

  /** Writes the items, which have the numbers after `given`, as one file. */
  write(
    items: readonly string[],
    given: number,
  ): { readonly name: string; readonly size: number; readonly last: number } {
    const [first, last] = [given + 1, given + items.length];
    return { ...this.#write(items, first, last), last };
  }

  #write(items: readonly string[], first: number, last: number): { readonly name: string; readonly size: number } {
    removeUnfinished(this.#path);
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
