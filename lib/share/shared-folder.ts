import {
  closeSync,
  type Dirent,
  existsSync,
  fsyncSync,
  lstatSync,
  opendirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parseObject } from '../chat/json.js';
import { makeFolder } from '../disk.js';
import { HiError, systemCode, systemReason } from '../errors.js';
import { keyCheck, newId, type ShareKey } from './sealed-file.js';

/** The file that shows that a folder is a shared one: with none, it is empty, or its disk is not mounted. */
export const MARKER = 'hi-share.json';

/** What the marker says. */
export interface Marker {
  /** The id of the folder. */
  readonly id: string;
  /** The `keyCheck` of its key. */
  readonly check: string;
}

/** The marker of a folder; null if there is none. Throws the system's error. */
export function readMarker(folder: string): Marker | null {
  const path = join(folder, MARKER);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || !found.isFile() || found.size > 10_000) return null;
  const { id, check } = parseObject(readFileSync(path, 'utf8')) ?? {};
  return typeof id === 'string' && typeof check === 'string' ? { id, check } : null;
}

/** Makes a folder a shared one, or one of that id again. Throws the system's error. */
export function writeMarker(folder: string, key: ShareKey, id: string = newId()): Marker {
  const marker = { id, check: keyCheck(key, id) };
  writeShared(folder, MARKER, Buffer.from(`${JSON.stringify({ hi: 1, ...marker })}\n`));
  return marker;
}

/** What to know about a folder that cannot be used now. */
export const LATER = { hint: 'What is said here is given out when it is back.' };

/**
 * Runs `work`, whose system errors are those of the shared folder, whatever else is open. Throws them as a `HiError` of
 * code `config`.
 */
export function inFolder<Result>(folder: string, work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    if (systemCode(thrown) === null) throw thrown;
    throw unusable(folder, thrown);
  }
}

/** The error of a folder in which the system refused something. */
export function unusable(folder: string, cause: unknown): HiError {
  const message = `The shared folder '${folder}' cannot be used: ${systemReason(cause)}.`;
  return new HiError('config', message, { ...LATER, cause });
}

/** The machines that have a folder. Throws the system's error. */
export function machinesIn(folder: string): readonly string[] {
  return namedAsMachine(folder).filter((name) => isFolder(join(folder, name)));
}

/** What is where a machine's folder should be, and is none: it is not followed. Throws the system's error. */
export function strangersIn(folder: string): readonly string[] {
  return namedAsMachine(folder).filter((name) => !isFolder(join(folder, name)));
}

/** Only these are looked at: very many other files may be there. */
const namedAsMachine = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((name) => MACHINE.test(name))
    .sort();

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** The name of a machine's folder: its id. */
const MACHINE = /^[0-9a-f]{16}$/;

/** A folder that was just changed may change again within the resolution of its file system's clock. Milliseconds. */
const SETTLING = 3000;

/** What changes with every change in a folder; empty if it cannot tell yet. Throws the system's error. */
export function stampOf(folder: string, now: number): string {
  const { mtimeMs, ctimeMs, ino } = statSync(folder);
  return Math.abs(now - Math.max(mtimeMs, ctimeMs)) < SETTLING ? '' : `${mtimeMs} ${ctimeMs} ${ino}`;
}

/** With more files than this in one folder, something else than hi writes there. */
const MOST_FILES = 20_000;

/**
 * The names of the files in a machine's folder, none if there are too many, and of what else is there. What begins with
 * a dot is not finished. Throws the system's error.
 */
export function filesIn(folder: string): { readonly names: readonly string[]; readonly others: readonly string[] } {
  if (!existsSync(folder)) return { names: [], others: [] };
  const found = entriesIn(folder, MOST_FILES);
  if (found === null) return { names: [], others: [`more than ${MOST_FILES} files`] };
  const shown = found.filter(({ name }) => !name.startsWith('.'));
  const names = shown.filter((entry) => entry.isFile()).map(({ name }) => name);
  const others = shown.filter((entry) => !entry.isFile() && entry.name !== ATTACHMENTS).map(({ name }) => name);
  return { names: names.sort(), others };
}

/** What is in a folder; null if that is more than `most`, which is not gone through. */
function entriesIn(folder: string, most: number): readonly Dirent[] | null {
  const found: Dirent[] = [];
  const opened = opendirSync(folder, { bufferSize: 1024 });
  try {
    for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) {
      if (found.length === most) return null;
      found.push(entry);
    }
    return found;
  } finally {
    opened.closeSync();
  }
}

/** The folder of a machine's attachments in its own. */
export const ATTACHMENTS = 'attachments';

/** A larger file is not read. Bytes. */
export const LARGEST_FILE = 64 * 1024 * 1024;

/**
 * The bytes of a file, or the first `length` of them; null if it is gone, is no file, or is too large. Throws other
 * errors of the system.
 */
export function readShared(path: string, length: number | null = null): Buffer | null {
  try {
    const found = lstatSync(path);
    if (!found.isFile() || found.size > LARGEST_FILE) return null;
    return length === null ? readFileSync(path) : startOf(path, length);
  } catch (thrown) {
    if (systemCode(thrown) !== 'ENOENT') throw thrown;
    return null;
  }
}

function startOf(path: string, length: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(file, bytes, 0, length, 0));
  } finally {
    closeSync(file);
  }
}

/** Writes a new file, aside first. It is on disk when this returns. Throws the system's error. */
export function writeShared(folder: string, name: string, bytes: Uint8Array): void {
  makeFolder(folder, 0o700);
  const aside = join(folder, `.${name}.new`);
  try {
    const file = openSync(aside, 'w', 0o600);
    try {
      writeFileSync(file, bytes);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(aside, join(folder, name));
  } catch (thrown) {
    rmSync(aside, { force: true });
    throw thrown;
  }
}

/** Whether a kill left this file while it was being written. */
export const isUnfinished = (name: string): boolean => /^\..+\.hi\.new$/.test(name);

/**
 * The name of a file with the items of these numbers. No two files ever have one name, so that none is ever changed.
 */
export function itemFileName(first: number, last: number): string {
  return `${first}-${last}-${newId()}.hi`;
}

/** The numbers in the name of a file; null if a syncer, or somebody, has renamed it. */
export function numbersIn(name: string): { readonly first: number; readonly last: number } | null {
  const [, first, last] = /^(\d{1,15})-(\d{1,15})-[0-9a-f]{16}\.hi$/.exec(name) ?? [];
  return first === undefined || last === undefined ? null : { first: Number(first), last: Number(last) };
}
