import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parseObject } from '../chat/json.js';
import { systemCode } from '../errors.js';
import { makeFolder } from '../folder.js';
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

/** Makes a folder a shared one. Throws the system's error. */
export function writeMarker(folder: string, key: ShareKey): Marker {
  const id = newId();
  const marker = { id, check: keyCheck(key, id) };
  writeShared(folder, MARKER, Buffer.from(`${JSON.stringify({ hi: 1, ...marker })}\n`));
  return marker;
}

/** The machines that have a folder. Throws the system's error. */
export function machinesIn(folder: string): readonly string[] {
  const found = readdirSync(folder, { withFileTypes: true });
  return found.flatMap((entry) => (entry.isDirectory() && MACHINE.test(entry.name) ? [entry.name] : [])).sort();
}

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

/** The names of the files in a machine's folder, and whether there are too many of them. What begins with a dot is not finished. Throws the system's error. */
export function filesIn(folder: string): { readonly names: readonly string[]; readonly others: readonly string[] } {
  if (!existsSync(folder)) return { names: [], others: [] };
  const found = readdirSync(folder, { withFileTypes: true });
  if (found.length > MOST_FILES) return { names: [], others: [`${found.length} files`] };
  const shown = found.filter(({ name }) => !name.startsWith('.'));
  const names = shown.filter((entry) => entry.isFile()).map(({ name }) => name);
  const others = shown.filter((entry) => !entry.isFile() && entry.name !== ATTACHMENTS).map(({ name }) => name);
  return { names: names.sort(), others };
}

/** The folder of a machine's attachments in its own. */
export const ATTACHMENTS = 'attachments';

/** A larger file is not read. Bytes. */
export const LARGEST_FILE = 64 * 1024 * 1024;

/** The bytes of a file; null if it is gone, is no file, or is too large. Throws other errors of the system. */
export function readShared(path: string): Buffer | null {
  try {
    const found = lstatSync(path);
    return found.isFile() && found.size <= LARGEST_FILE ? readFileSync(path) : null;
  } catch (thrown) {
    if (systemCode(thrown) !== 'ENOENT') throw thrown;
    return null;
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

/** Removes what a kill left of files that were being written. */
export function removeUnfinished(folder: string): void {
  for (const name of existsSync(folder) ? readdirSync(folder) : [])
    if (/^\..+\.hi\.new$/.test(name)) rmSync(join(folder, name), { force: true });
}

/** The name of a file with the items of these numbers. No two files ever have one name, so that none is ever changed. */
export function itemFileName(first: number, last: number): string {
  return `${first}-${last}-${newId()}.hi`;
}

/** The numbers in the name of a file; null if a syncer, or somebody, has renamed it. */
export function numbersIn(name: string): { readonly first: number; readonly last: number } | null {
  const [, first, last] = /^(\d{1,15})-(\d{1,15})-[0-9a-f]{16}\.hi$/.exec(name) ?? [];
  return first === undefined || last === undefined ? null : { first: Number(first), last: Number(last) };
}
