import { closeSync, fstatSync, openSync } from 'node:fs';
import type { Entry } from '../../chat/entry.js';
import { requireRegularFile } from '../../regular-file.js';
import { lastMessages, ROOM_LIMIT } from '../file/entries/entries.js';
import { type Facts, NO_FACTS } from '../file/facts.js';
import { bufferedReader } from '../file/frames/bytes.js';
import type { Codec } from '../file/frames/codec.js';
import { Damaged, Unordered } from '../file/frames/damaged.js';
import { entriesOfArray } from '../file/read-array.js';
import { RecentEntries } from '../file/recent-entries.js';
import type { Salvage, SalvageReport } from './salvage.js';
import { loadedSalvage } from './salvage-loader.js';

/** An open history that is not in hi's layout, because another program wrote it or it is damaged. It can only be read, and only as a whole. */
export class ArrayFile {
  readonly fileId: string;
  /** The name of the conversation: none yet. */
  readonly log = '';
  readonly #codec: Codec;
  readonly #file: number;
  readonly #size: number;
  /** True when the file is not one intact array, and only what can be recovered is returned. */
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

  /** Opens the file at `path`; of a `damaged` one it returns what can be recovered. Throws system errors. */
  static open(codec: Codec, path: string, damaged: boolean): ArrayFile {
    requireRegularFile(path);
    return new ArrayFile(codec, openSync(path, 'r'), damaged);
  }

  /** Opens the file at `path`, this one or its replacement, again for reading. */
  reopen(codec: Codec, path: string): ArrayFile {
    return ArrayFile.open(codec, path, this.isDamaged);
  }

  /** The facts of all entries, once they are loaded. */
  get facts(): Facts {
    return this.#facts;
  }

  /** All entries from the first one that the view needs. Throws `Damaged` when the file is not one intact array. */
  load(): readonly Entry[] {
    const recent = new RecentEntries();
    for (const entries of this.all()) for (const entry of entries) recent.add(entry);
    this.#facts = recent.facts;
    if (!this.isDamaged && recent.facts.last >= ROOM_LIMIT) throw new Unordered('The ids leave no room for more.');
    return recent.entries;
  }

  /** Always empty: hi appends to such a file only after a conversion, which makes it another file. Throws `Damaged` when it was overwritten. */
  readNew(): readonly Entry[] {
    const { size, mtimeMs } = fstatSync(this.#file);
    if (`${size}:${mtimeMs}` !== this.#version) throw new Damaged('The file was overwritten.');
    return [];
  }

  /** What was done to its elements, null for nothing. */
  get report(): SalvageReport | null {
    return this.isDamaged ? this.salvage.report : null;
  }

  /** What can be recovered of it. Throws `SalvageNotLoaded`. */
  get salvage(): Salvage {
    if (this.#salvage === null) {
      const Salvager = loadedSalvage();
      this.#salvage = new Salvager(this.#codec, bufferedReader(this.#file, 64 * 1024), this.#size);
    }
    return this.#salvage;
  }

  /** Every entry, oldest first, in chunks. `what` names the operation in progress reports. Throws `Damaged` when the file is not one intact array. */
  *all(what?: string): Generator<readonly Entry[]> {
    if (!this.isDamaged) yield* entriesOfArray(this.#codec, bufferedReader(this.#file, 64 * 1024), this.#size, what);
    else for (const entry of this.salvage.entries()) yield [entry];
  }

  /** The newest `count` messages and the entries between them, oldest first. */
  newest(count: number): readonly Entry[] {
    let found: readonly Entry[] = [];
    for (const entries of this.all()) found = lastMessages([...found, ...entries], count);
    return found;
  }

  close(): void {
    closeSync(this.#file);
  }
}
