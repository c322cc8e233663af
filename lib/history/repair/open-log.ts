import { closeSync, existsSync, fstatSync, openSync } from 'node:fs';
import type { Entry } from '../../chat/entry.js';
import { requireRegularFile } from '../../disk.js';
import { systemCode } from '../../errors.js';
import { bufferedReader, type Codec, loadCodec, readAt } from '../file/codec.js';
import { lastMessages, ROOM_LIMIT } from '../file/entries.js';
import { Damaged, Unordered } from '../file/frames.js';
import { BRACKET_SIZE, type Facts, NO_FACTS, OPENING } from '../file/layout.js';
import { LogFile } from '../file/log-file.js';
import { entriesOfArray, RecentEntries } from '../file/whole-log.js';
import type { Salvage, SalvageReport } from './salvage.js';
import { loadedSalvage } from './salvage-loader.js';

/** An open history in either layout, with the entries that the view needs. */
export interface Opened {
  readonly file: LogFile | ArrayFile;
  readonly entries: readonly Entry[];
}

/**
 * Opens and loads the history at `path`, in hi's layout or as any array of entries. Throws system errors and `Damaged`:
 * without the lock (`exclusive` false) a file that looks damaged may be in the middle of a write.
 */
export function openLog(codec: Codec, path: string, sure: boolean): Opened {
  try {
    return loaded(openNative(codec, path, sure));
  } catch (thrown) {
    if (!(thrown instanceof Damaged) || (!sure && hasNativeOpening(path))) throw thrown;
    return openArray(codec, path);
  }
}

function openArray(codec: Codec, path: string): Opened {
  try {
    return loaded(ArrayFile.open(codec, path, false));
  } catch (thrown) {
    if (!(thrown instanceof Unordered)) throw thrown;
    return openDamaged(codec, path);
  }
}

/** Opens a damaged history and loads what can be recovered. */
export function openDamaged(codec: Codec, path: string): Opened {
  return loaded(ArrayFile.open(codec, path, true));
}

function loaded(file: LogFile | ArrayFile): Opened {
  try {
    return { file, entries: file.load() };
  } catch (thrown) {
    file.close();
    throw thrown;
  }
}

/** Opens for writing, or for reading if writing is neither allowed nor required (`exclusive`). */
function openNative(codec: Codec, path: string, sure: boolean): LogFile {
  try {
    return LogFile.open(codec, path, 'r+');
  } catch (thrown) {
    const code = systemCode(thrown);
    if (code !== 'EACCES' && code !== 'EROFS' && code !== 'EPERM') throw thrown;
    // A file in another layout will be replaced, which needs write access to the folder only; reading it here throws
    // `Damaged` first.
    const file = LogFile.open(codec, path, 'r');
    if (!sure) return file;
    file.close();
    throw thrown;
  }
}

/** True for a file that begins in hi's layout. */
export function hasNativeOpening(path: string): boolean {
  requireRegularFile(path);
  const file = openSync(path, 'r');
  try {
    return readAt(file, 0, BRACKET_SIZE).equals(OPENING);
  } finally {
    closeSync(file);
  }
}

/** Whether the whole history at `path` can be read. Only under the lock. Throws system errors. */
export function isIntact(codec: Codec, path: string): boolean {
  try {
    const { file } = openLog(codec, path, true);
    try {
      if (file instanceof ArrayFile && file.isDamaged) return false;
      for (const _ of file.all('Checking the history'));
      return true;
    } finally {
      file.close();
    }
  } catch (thrown) {
    if (thrown instanceof Damaged) return false;
    throw thrown;
  }
}

/**
 * Every entry of the log at `path`, oldest first, read on demand; none if the file is missing. Throws `Damaged` and
 * system errors.
 */
export function* readLog(path: string): Generator<Entry> {
  if (!existsSync(path)) return;
  const file = ArrayFile.open(loadCodec(), path, false);
  try {
    for (const entries of file.all()) yield* entries;
  } finally {
    file.close();
  }
}

/**
 * An open history that is not in hi's layout, because another program wrote it or it is damaged. It can only be read,
 * and only as a whole.
 */
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

  /**
   * Always empty: hi appends to such a file only after a conversion, which makes it another file. Throws `Damaged` when
   * it was overwritten.
   */
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

  /**
   * Every entry, oldest first, in chunks. `what` names the operation in progress reports. Throws `Damaged` when the
   * file is not one intact array.
   */
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
