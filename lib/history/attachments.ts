import { createHash } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Entry } from '../chat/message.js';
import { carriedText } from '../chat/stored.js';
import { HiError } from '../errors.js';
import { makeFolder } from '../folder.js';
import { writeAt } from './bytes.js';
import { systemCode } from './failure.js';
import { assertHeld } from './held.js';
import { instance, lifeOf } from './instance.js';
import type { Paths } from './paths.js';
import { syncFolder } from './rewrite.js';
import { quietFor } from './sightings.js';
import { keepTwice } from './twice.js';

/** What a process elsewhere was to refer to counts as abandoned when it was seen to lie there for so long, in milliseconds. */
const ABANDONED = 600_000;

/** The name of some bytes: their SHA-256. */
export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * Keeps the bytes under their hash, on disk when this returns. Beside them lies the same file under a name with this process in it until `settle`:
 * the message that refers to them is not written yet. Throws what the system throws.
 */
export function keep(paths: Paths, bytes: Uint8Array): string {
  const hash = hashOf(bytes);
  const path = join(paths.attachments, hash);
  const pending = pendingOf(path);
  makeFolder(paths.attachments, 0o700);
  try {
    writeWhole(pending, bytes);
    if (readIfThere(path)?.equals(bytes) !== true) {
      rmSync(path, { force: true });
      keepTwice(pending, path);
    }
    syncFolder(paths.attachments);
  } catch (thrown) {
    rmSync(pending, { force: true });
    throw thrown;
  }
  return hash;
}

/** The message that refers to these bytes is written: in this conversation, whichever they were kept for. */
export function settle(paths: Paths, hash: string): void {
  bringAlong(paths, hash);
  rmSync(pendingOf(join(paths.attachments, hash)), { force: true });
}

/** Keeps bytes in this conversation too that a reset has put aside. Does nothing where they are already, or nowhere. */
export function bringAlong(paths: Paths, hash: string): void {
  const [here, aside] = [join(paths.attachments, hash), join(paths.asideAttachments, hash)];
  if (existsSync(here) || !existsSync(aside)) return;
  makeFolder(paths.attachments, 0o700);
  keepTwice(aside, here);
  syncFolder(paths.attachments);
}

/** True when a process died, or failed, before it wrote the message that refers to what it kept. */
export function hasAbandoned(paths: Paths): boolean {
  return namesIn(paths.attachments).some((name) => name.includes('.') && !isPending(paths, name));
}

/** The bytes with that hash. Throws a `HiError` when they are gone or not what they were. */
export function find(paths: Paths, hash: string): Buffer {
  for (const folder of [paths.attachments, paths.asideAttachments]) {
    const bytes = readIfThere(join(folder, hash));
    if (bytes && hashOf(bytes) === hash) return bytes;
  }
  throw new HiError('history', `The attachment '${hash}' is missing from '${paths.attachments}', or damaged.`, {
    hint: 'Attach the file again.',
  });
}

/**
 * Removes the attachments that no entry refers to and no living process is about to refer to. Only under the lock.
 * The logs are read one after another, and only while something is left that may have to go.
 */
export function collect(paths: Paths, logs: readonly Iterable<Entry>[]): void {
  const names = namesIn(paths.attachments);
  const pending = names.filter((name) => isPending(paths, name));
  const kept = new Set([...pending, ...pending.map((name) => name.slice(0, name.indexOf('.')))]);
  const unused = new Set(names.filter((name) => !kept.has(name)));
  for (const log of logs) {
    if (unused.size === 0) return;
    for (const entry of log) for (const hash of hashesIn(entry)) unused.delete(hash);
  }
  assertHeld();
  for (const name of unused) rmSync(join(paths.attachments, name), { force: true });
}

/** The hashes of the attachments an entry refers to. */
export function hashesIn(entry: Entry): readonly string[] {
  const text = carriedText(entry);
  // What this version cannot read may refer to one in a way it does not know.
  if (text !== null) return text.match(/\b[0-9a-f]{64}\b/g) ?? [];
  if ('type' in entry) return [];
  return entry.content.flatMap((part) => (part.type === 'image' || part.type === 'document' ? [part.sha256] : []));
}

function isPending(paths: Paths, name: string): boolean {
  const dot = name.indexOf('.');
  if (dot < 0) return false;
  const life = lifeOf(name.slice(dot + 1));
  if (life !== 'elsewhere') return life === 'alive';
  const path = join(basename(paths.attachments), name);
  return (quietFor(paths.folder, [path]).get(path) ?? 0) <= ABANDONED;
}

function pendingOf(path: string): string {
  return `${path}.${instance()}`;
}

function writeWhole(path: string, bytes: Uint8Array): void {
  const file = openSync(path, 'w', 0o600);
  try {
    writeAt(file, bytes, 0);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function readIfThere(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (thrown) {
    if (systemCode(thrown) === 'ENOENT') return null;
    throw thrown;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (thrown) {
    if (systemCode(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}
