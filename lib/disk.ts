import {
  closeSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { systemCode } from './errors.js';

/**
 * Makes a folder and its missing parents; an existing one stays as it is. Throws the system's error. Node's own
 * `recursive` never ends where the system reports ENOENT inside an existing folder, as `/proc` and automounters do.
 */
export function makeFolder(path: string, mode: number): void {
  const failure = tryToMake(path, mode);
  if (failure === null) return;
  const parent = dirname(path);
  if (!isMissing(failure) || parent === path) throw failure;
  makeFolder(parent, mode);
  const again = tryToMake(path, mode);
  if (again !== null) throw again;
}

/** Returns the error, or null when the folder exists afterwards. */
function tryToMake(path: string, mode: number): unknown {
  try {
    mkdirSync(path, { mode });
    return null;
  } catch (thrown) {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? null : thrown;
  }
}

function isMissing(failure: unknown): boolean {
  return typeof failure === 'object' && failure !== null && 'code' in failure && failure.code === 'ENOENT';
}

/** The file is not a regular file. Has the fields of a system error. */
class NotRegularFile extends Error {
  readonly syscall = 'open';
  readonly code: string;
  readonly path: string;

  constructor(path: string, code: 'EISDIR' | 'EFTYPE') {
    super(`${code}: not a regular file, open '${path}'`);
    this.code = code;
    this.path = path;
  }
}

/**
 * Throws where something lies at `path` that is neither a regular file nor a link to one: to open a pipe or a device
 * may act on it, or take for ever. The error is one of the system's: EISDIR for a folder, EFTYPE for anything else.
 */
export function requireRegularFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return;
  throw new NotRegularFile(path, found.isDirectory() ? 'EISDIR' : 'EFTYPE');
}

/** The bytes of a regular file. Throws what the system throws, and for anything else what `requireRegularFile` does. */
export function readRegularFile(path: string): Buffer {
  requireRegularFile(path);
  return readFileSync(path);
}

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

/** The system calls for replacing a file. */
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

/**
 * Removes the files in `folder` whose names match `pattern`, and nothing else. A link stays, and the file it leads to
 * is emptied. Does nothing when the folder does not exist. Throws the system's error.
 */
export function removeFiles(folder: string, pattern: RegExp): void {
  for (const name of namesIn(folder)) if (pattern.test(name)) removeFile(join(folder, name));
}

/** Removes a file, and what a kill left while it was being written, as `removeFiles` does. */
export function removeWithLeftovers(path: string): void {
  const name = basename(path).replace(/[^\w-]/g, '\\$&');
  removeFiles(dirname(path), namesWithLeftovers(name));
}

/**
 * Removes what processes that are gone left of files in `folder` whose names match `pattern`. Throws the system's
 * error.
 */
export function removeLeftovers(folder: string, pattern: RegExp): void {
  for (const name of namesIn(folder)) {
    const [leftover, pid] = /\.(\d+)\.new$/.exec(name) ?? [];
    if (leftover === undefined || !pattern.test(name.slice(0, -leftover.length)) || processExists(Number(pid)))
      continue;
    removeFile(join(folder, name));
  }
}

/** Removes a folder if it is empty. A link to a folder stays. */
export function removeEmptyFolder(path: string): void {
  try {
    rmdirSync(path);
  } catch (thrown) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR', 'EBUSY', 'EACCES', 'EPERM'].includes(systemCode(thrown) ?? '')) {
      throw thrown;
    }
  }
}

/** The names in a folder; none when it does not exist. Throws the system's error. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (thrown) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(thrown) ?? '')) return [];
    throw thrown;
  }
}

/**
 * The names of the files in a folder and of the links to some, and not of folders, pipes or devices; none where there
 * is no folder. Throws what the system throws.
 */
export function fileNamesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((found) => found.isFile() || (found.isSymbolicLink() && leadsToFile(join(folder, found.name))))
      .map(({ name }) => name);
  } catch (thrown) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(thrown) ?? '')) return [];
    throw thrown;
  }
}

/** True for a regular file and for a link to one. */
export function leadsToFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function removeFile(path: string): void {
  try {
    const found = lstatSync(path);
    if (found.isSymbolicLink()) truncateSync(path, 0);
    else if (found.isFile()) unlinkSync(path);
  } catch (thrown) {
    // Another process may have been faster, or the link leads nowhere or to a folder, which hi never makes there.
    if (!['ENOENT', 'EISDIR'].includes(systemCode(thrown) ?? '')) throw thrown;
  }
}
