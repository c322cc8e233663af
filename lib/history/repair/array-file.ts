import { closeSync, fstatSync, openSync } from 'node:fs';
import type { Entry } from '../../chat/message.js';
import { requireRegularFile } from '../../regular-file.js';
import { bufferedReader } from '../file/bytes.js';
import type { Codec } from '../file/codec.js';
import { Damaged, Unordered } from '../file/damaged.js';
import { lastMessages, ROOM_LIMIT } from '../file/entries.js';
import { type Facts, NO_FACTS } from '../file/facts.js';
import { entriesOfArray } from '../file/read-array.js';
import { RecentEntries } from '../file/recent-entries.js';
import { Salvage, type SalvageReport } from './salvage.js';

/** An open history that is not laid out as hi lays it out, because another program wrote it or because it is damaged. It can only be read, and all of it must be. */
export class ArrayFile {
  readonly fileId: string;
  /** Names the conversation: it has no name of its own yet. */
  readonly log = '';
  readonly #codec: Codec;
  readonly #file: number;
  readonly #size: number;
  /** True when only what can be read of the file is given, because it is not one sound array. */
  readonly isDamaged: boolean;
  readonly #version: string;
  #facts: Facts = NO_FACTS;
  #salvage: Salvage | null = null;

  private constructor(codec: Codec, file: number, damaged: boolean) {
    this.#codec = codec;
    this.#file = file;
    this.isDamaged = damaged;
    const { dev, ino, size, mtimeMs } = fstatSync(file);
    this.fileId = `${dev}:${ino}`;
    this.#size = size;
    this.#version = `${size}:${mtimeMs}`;
  }

  /** Opens the file at `path`; of a `damaged` one it gives what can be read. Throws what the system throws. */
  static open(codec: Codec, path: string, damaged: boolean): ArrayFile {
    requireRegularFile(path);
    return new ArrayFile(codec, openSync(path, 'r'), damaged);
  }

  /** The same file, or the one that took its place, for another reading. */
  reopen(codec: Codec, path: string): ArrayFile {
    return ArrayFile.open(codec, path, this.isDamaged);
  }

  /** Of all entries, once they were loaded. */
  get facts(): Facts {
    return this.#facts;
  }

  /** All entries from the first one the view needs on. Throws `Damaged` when the file is not one sound array. */
  load(): readonly Entry[] {
    const recent = new RecentEntries();
    for (const entries of this.all()) for (const entry of entries) recent.add(entry);
    this.#facts = recent.facts;
    if (!this.isDamaged && recent.facts.last >= ROOM_LIMIT) throw new Unordered('The ids leave no room for more.');
    return recent.entries;
  }

  /** Nobody adds to such a file without giving it hi's layout, and that makes it another file. Throws `Damaged` when it was written over. */
  readNew(): readonly Entry[] {
    const { size, mtimeMs } = fstatSync(this.#file);
    if (`${size}:${mtimeMs}` !== this.#version) throw new Damaged('The file was written over.');
    return [];
  }

  /** What became of its elements, null when nothing had to be done to them. */
  get report(): SalvageReport | null {
    return this.isDamaged ? this.salvage.report : null;
  }

  /** What can be read of it. */
  get salvage(): Salvage {
    this.#salvage ??= new Salvage(this.#codec, bufferedReader(this.#file, 64 * 1024), this.#size);
    return this.#salvage;
  }

  /** Every entry, oldest first, piece by piece. Throws `Damaged` when the file is not one sound array. */
  *all(): Generator<readonly Entry[]> {
    if (!this.isDamaged) yield* entriesOfArray(this.#codec, bufferedReader(this.#file, 64 * 1024), this.#size);
    else for (const entry of this.salvage.entries()) yield [entry];
  }

  /** The newest `count` messages with what stands between them, oldest first. */
  newest(count: number): readonly Entry[] {
    let found: readonly Entry[] = [];
    for (const entries of this.all()) found = lastMessages([...found, ...entries], count);
    return found;
  }

  close(): void {
    closeSync(this.#file);
  }
}
