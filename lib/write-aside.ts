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
  /**
   * The mode of a new file. An existing one keeps its own, without the bits for group and others when the file is
   * `private`.
   */
  readonly mode: number;
  readonly private?: boolean;
  /** Flush the file to the disk before the rename, so that a power cut leaves the old file or the new one. */
  readonly synced: boolean;
}

/**
 * Replaces a file atomically: after a kill either the old or the new one is there, complete. A link at `path` is
 * followed and stays. Throws the system's error.
 */
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

/** A new file in the folder of the one it will replace. End it with `commit` or `discard`. */
export class AsideFile {
  readonly descriptor: number;
  readonly #target: string;
  readonly #path: string;
  #isOpen = true;

  constructor(path: string, { mode, private: isPrivate = false }: Omit<WriteOptions, 'synced'>) {
    this.#target = followLinks(path);
    this.#path = join(dirname(this.#target), `${shortened(basename(this.#target))}.${process.pid}.new`);
    const existing = statSync(this.#target, { throwIfNoEntry: false });
    // A killed process with the same id may have left a file.
    removeIfThere(this.#path);
    this.descriptor = openSync(this.#path, 'wx', mode);
    // The mode given to `open` is narrowed by the umask.
    if (existing !== undefined) fchmodSync(this.descriptor, existing.mode & (isPrivate ? 0o700 : 0o7777));
  }

  /** Renames the file into place. */
  commit(synced: boolean): void {
    if (synced) fsyncSync(this.descriptor);
    this.#close();
    renameOver(this.#path, this.#target);
  }

  /** Removes the new file. Does nothing after a `commit` that succeeded. */
  discard(): void {
    this.#close();
    removeIfThere(this.#path);
  }

  #close(): void {
    if (this.#isOpen) closeSync(this.descriptor);
    this.#isOpen = false;
  }
}

/** How long to wait for a file that another program has open, and between two attempts, in milliseconds. */
const TIME_LIMIT = 1000;
const PAUSE = 20;

/**
 * Renames a file over another. On Windows this fails while another program has that file open, mostly for a moment, so
 * it is tried again. Throws the system's error.
 */
export function renameOver(
  from: string,
  to: string,
  { platform, rename, pause }: RenameDeps = { platform: process.platform, rename: renameSync, pause: sleep },
): void {
  for (let left = platform === 'win32' ? TIME_LIMIT : 0; ; left -= PAUSE) {
    try {
      rename(from, to);
      return;
    } catch (thrown) {
      if (left <= 0 || !['EPERM', 'EACCES', 'EBUSY'].includes(systemCode(thrown) ?? '')) throw thrown;
      pause(PAUSE);
    }
  }
}

/** What replacing a file needs of the system. */
interface RenameDeps {
  readonly platform: NodeJS.Platform;
  rename(from: string, to: string): void;
  pause(milliseconds: number): void;
}

function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/**
 * The path with all links at its end followed; nothing has to exist there. Throws the system's error, for a loop too.
 */
export function followLinks(path: string): string {
  let target = path;
  for (let links = 0; links < 40; links += 1) {
    const next = readLink(target);
    if (next === null) return target;
    // Not `join`: it resolves `..` by name, which is wrong where a folder on the way is a link.
    target = isAbsolute(next) ? next : `${dirname(target)}/${next}`;
  }
  // The system reports the loop in its own words.
  statSync(path);
  return target;
}

/**
 * Matches the file names that `pattern` describes, and the names of what a kill leaves while such a file is being
 * written.
 */
export function namesWithLeftovers(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})(?:(?:\\.\\d+)?\\.(?:new|tmp))?$`);
}

/** Whether there is a process with that id on this machine. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return systemCode(thrown) === 'EPERM';
  }
}

/** Null when the path is not a link. */
function readLink(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch (thrown) {
    if (['EINVAL', 'ENOENT', 'ENOTDIR', 'UNKNOWN'].includes(systemCode(thrown) ?? '')) return null;
    throw thrown;
  }
}

/** Removes a file if it exists. Not `rmSync`, which loads code for removing whole trees. Throws the system's error. */
export function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (thrown) {
    if (systemCode(thrown) !== 'ENOENT') throw thrown;
  }
}

/** File systems allow 255 bytes for a name. */
function shortened(name: string): string {
  return Buffer.byteLength(name) > 230 ? name.slice(0, 50) : name;
}
