import {
  closeSync,
  fchmodSync,
  fsyncSync,
  openSync,
  readlinkSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { systemCode } from './errors.js';

/** How a file is written. */
export interface WriteOptions {
  /** The mode of a file that is not there yet; one that is there keeps its own, less what it gives to others where the file is `private`. */
  readonly mode: number;
  readonly private?: boolean;
  /** Flush it to the disk before it takes its place, so that a power cut leaves the old file or the new one. */
  readonly synced: boolean;
}

/** Replaces a file at once: after a kill the old one is there or the new one, whole. A link at `path` is followed and stays. Throws what the system throws. */
export function writeAside(path: string, content: string | Uint8Array, options: WriteOptions): void {
  const aside = new AsideFile(path, options);
  try {
    writeFileSync(aside.descriptor, content);
    aside.commit(options.synced);
  } catch (thrown) {
    aside.discard();
    throw thrown;
  }
}

/** A new file that is written beside the one it is going to replace. End it with `commit` or `discard`. */
export class AsideFile {
  readonly descriptor: number;
  readonly #target: string;
  readonly #path: string;
  #open = true;

  constructor(path: string, { mode, private: isPrivate = false }: Omit<WriteOptions, 'synced'>) {
    this.#target = linkTarget(path);
    this.#path = join(dirname(this.#target), `${shortened(basename(this.#target))}.${process.pid}.new`);
    const before = statSync(this.#target, { throwIfNoEntry: false });
    // A killed process with the same id may have left one.
    removeIfThere(this.#path);
    this.descriptor = openSync(this.#path, 'wx', mode);
    // The mode given to `open` is narrowed by the umask.
    if (before !== undefined) fchmodSync(this.descriptor, before.mode & (isPrivate ? 0o700 : 0o7777));
  }

  /** Puts the file in its place. */
  commit(synced: boolean): void {
    if (synced) fsyncSync(this.descriptor);
    this.#close();
    renameSync(this.#path, this.#target);
  }

  /** Leaves the old file as it is. Does nothing after a `commit` that succeeded. */
  discard(): void {
    this.#close();
    removeIfThere(this.#path);
  }

  #close(): void {
    if (this.#open) closeSync(this.descriptor);
    this.#open = false;
  }
}

/** Where a path leads when all links at its end are followed: to a file, or to nothing yet. Throws what the system throws, for a loop too. */
export function linkTarget(path: string): string {
  let target = path;
  for (let links = 0; links < 40; links += 1) {
    const next = readLink(target);
    if (next === null) return target;
    // Not `join`, which would take `..` for the folder above where a folder on the way is a link.
    target = isAbsolute(next) ? next : `${dirname(target)}/${next}`;
  }
  // Reading it, the system finds the words.
  statSync(path);
  return target;
}

/** Matches the file names that `pattern` describes, and what a kill leaves of a file of such a name while it is written. */
export function namesWithAsides(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})(?:(?:\\.\\d+)?\\.(?:new|tmp))?$`);
}

/** Null when there is no link. */
function readLink(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch (thrown) {
    if (['EINVAL', 'ENOENT', 'ENOTDIR', 'UNKNOWN'].includes(systemCode(thrown) ?? '')) return null;
    throw thrown;
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (thrown) {
    if (systemCode(thrown) !== 'ENOENT') throw thrown;
  }
}

/** File systems take 255 bytes. */
function shortened(name: string): string {
  return Buffer.byteLength(name) > 230 ? name.slice(0, 50) : name;
}
