import { createHash } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Entry, isMessage, originalText } from '../chat/entry.js';
import type { DocumentPart, ImagePart, Message } from '../chat/message.js';
import { fileNamesIn, makeFolder, readRegularFile, removeEmptyFolder, requireRegularFile } from '../disk.js';
import { systemCode } from '../errors.js';
import { type HistoryPaths, linkOrCopy, PROCESS_NAME } from './base/history-paths.js';
import { writeAt } from './file/codec.js';
import { Damaged } from './file/frames.js';
import { requireAttachmentsFolder } from './file/log-file.js';
import { assertLockHeld, livenessOf, processName, unchangedFor } from './lock/holder.js';
import { syncFolder } from './repair/repair.js';

/** A pending attachment of a remote process that did not change for this long, in milliseconds, is an orphan. */
const REMOTE_TIMEOUT = 600_000;

/** The SHA-256 of the bytes, which names their file. */
export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * Stores the bytes under their hash. They are on disk when this returns. A second name, which contains this process,
 * marks them as pending until `commitAttachment`, because the message that refers to them is not written yet. Replaces
 * an altered file. Throws a `HiError` and system errors.
 */
export function storeAttachment(paths: HistoryPaths, bytes: Uint8Array): string {
  const hash = hashOf(bytes);
  const path = join(paths.attachments, hash);
  const pending = pendingPath(path);
  requireAttachmentsFolder(paths);
  try {
    writePending(paths.attachments, pending, bytes);
    if (readIfIntact(path, hash) === null) {
      removeEmptyFolder(path);
      requireRegularFile(path);
      rmSync(path, { force: true });
      linkOrCopy(pending, path);
    }
    clearLostMark(paths, hash);
    syncFolder(paths.attachments);
  } catch (thrown) {
    rmSync(pending, { force: true });
    throw thrown;
  }
  return hash;
}

/** Ends the pending state, after the message that refers to the attachment was written. */
export function commitAttachment(paths: HistoryPaths, hash: string): void {
  const path = join(paths.attachments, hash);
  const pending = pendingPath(path);
  // Another process may have removed it as unreferenced while it was written.
  if (!existsSync(path) && existsSync(pending)) renameSync(pending, path);
  rmSync(pending, { force: true });
}

/** Removes a pending attachment that no message will refer to. */
export function releaseAttachment(paths: HistoryPaths, hash: string): void {
  rmSync(pendingPath(join(paths.attachments, hash)), { force: true });
}

/** True when a process died, or failed, before it wrote the message that refers to its attachment. */
export function hasOrphans(paths: HistoryPaths): boolean {
  return filesIn(paths.attachments).some((file) => file.process !== null && !isPending(paths, file));
}

/** The bytes with that hash, null when they are missing, unreadable or altered. */
export function readAttachment(paths: HistoryPaths, hash: string): Buffer | null {
  return readIfIntact(join(paths.attachments, hash), hash);
}

/**
 * Removes the attachments that no entry refers to and that are not pending in a live process, and nothing else. Only
 * under the lock. Reads the logs one after another, and only while something may be unreferenced; when one is damaged
 * nothing is removed.
 */
export function collectGarbage(paths: HistoryPaths, logs: readonly Iterable<Entry>[]): void {
  const files = filesIn(paths.attachments);
  const referenced = new Set(files.filter((file) => isPending(paths, file)).map(({ hash }) => hash));
  const unused = new Set(files.map(({ hash }) => hash).filter((hash) => !referenced.has(hash)));
  try {
    for (const log of logs) {
      if (unused.size === 0) break;
      for (const entry of log) for (const hash of hashesReferredToBy(entry)) unused.delete(hash);
    }
  } catch (thrown) {
    if (thrown instanceof Damaged) return;
    throw thrown;
  }
  assertLockHeld();
  for (const file of files) {
    const path = join(paths.attachments, file.name);
    if (unused.has(file.hash)) rmSync(path, { force: true });
    else if (file.process !== null && !referenced.has(file.hash)) commitForDead(paths, file);
  }
}

/** Removes the folder of the attachments if it is empty. */
export function removeUnusedFolder({ attachments }: HistoryPaths): void {
  removeEmptyFolder(attachments);
}

/** The attachments an entry refers to. */
export function attachmentsIn(entry: Entry): readonly (ImagePart | DocumentPart)[] {
  return messagesWithin(entry).flatMap(({ content }) =>
    content.filter((part) => part.type === 'image' || part.type === 'document'),
  );
}

/** The messages of an entry: itself, or those in a block or mark. */
function messagesWithin(entry: Entry): readonly Message[] {
  if (isMessage(entry)) return [entry];
  if (entry.type === 'pin') return [entry.message];
  return entry.type === 'compress' ? (entry.pins?.messages ?? []) : [];
}

function hashesReferredToBy(entry: Entry): readonly string[] {
  const text = originalText(entry);
  // An entry that this version cannot read may refer to attachments in an unknown way.
  if (text !== null) return text.match(/\b[0-9a-f]{64}\b/g) ?? [];
  return attachmentsIn(entry).map(({ sha256 }) => sha256);
}

/** One of hi's files in the folder: an attachment, a pending one, or the mark that its loss was reported. */
interface AttachmentFile {
  readonly name: string;
  readonly hash: string;
  readonly process: string | null;
}

function filesIn(folder: string): readonly AttachmentFile[] {
  return fileNamesIn(folder).flatMap((name): AttachmentFile[] => {
    const [, hash, suffix] = /^([0-9a-f]{64})(?:\.(.+))?$/.exec(name) ?? [];
    if (hash === undefined) return [];
    if (suffix === undefined || name === lostMarkName(hash)) return [{ name, hash, process: null }];
    return PROCESS_NAME.test(suffix) ? [{ name, hash, process: suffix }] : [];
  });
}

function isPending({ folder, attachments }: HistoryPaths, { name, process }: AttachmentFile): boolean {
  if (process === null) return false;
  const liveness = livenessOf(process);
  if (liveness !== 'elsewhere') return liveness === 'alive';
  const path = join(basename(attachments), name);
  return (unchangedFor(folder, [path]).get(path) ?? 0) <= REMOTE_TIMEOUT;
}

/** Commits for a process that died after its message was written. */
function commitForDead({ attachments }: HistoryPaths, { name, hash }: AttachmentFile): void {
  const [pending, path] = [join(attachments, name), join(attachments, hash)];
  if (existsSync(path)) rmSync(pending, { force: true });
  else renameSync(pending, path);
}

function pendingPath(path: string): string {
  return `${path}.${processName()}`;
}

function writePending(folder: string, path: string, bytes: Uint8Array): void {
  for (let tries = 1; ; tries += 1) {
    makeFolder(folder, 0o700);
    try {
      writeSynced(path, bytes);
      return;
    } catch (thrown) {
      // Another process may just have removed the folder, which was empty.
      if (systemCode(thrown) !== 'ENOENT' || tries === 3) throw thrown;
    }
  }
}

function writeSynced(path: string, bytes: Uint8Array): void {
  const file = openSync(path, 'w', 0o600);
  try {
    writeAt(file, bytes, 0);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** The bytes of a file if they have that hash. */
function readIfIntact(path: string, hash: string): Buffer | null {
  try {
    const bytes = readRegularFile(path);
    return hashOf(bytes) === hash ? bytes : null;
  } catch (thrown) {
    if (systemCode(thrown) === null) throw thrown;
    return null;
  }
}

/** The name of the file that marks the loss of this attachment as reported. */
function lostMarkName(hash: string): string {
  return `${hash}.lost`;
}

/** Marks the loss of an attachment as reported. True if it was not yet; always true if the mark cannot be written. */
export function markLost(paths: HistoryPaths, hash: string, isKept: boolean): boolean {
  const mark = join(paths.attachments, lostMarkName(hash));
  if (!isKept) return !existsSync(mark);
  try {
    requireAttachmentsFolder(paths);
    makeFolder(paths.attachments, 0o700);
    closeSync(openSync(mark, 'wx', 0o600));
    return true;
  } catch (thrown) {
    return systemCode(thrown) !== 'EEXIST' || !existsSync(mark);
  }
}

/** Removes the mark when the attachment is back, so that another loss is reported. */
export function clearLostMark(paths: HistoryPaths, hash: string): void {
  try {
    unlinkSync(join(paths.attachments, lostMarkName(hash)));
  } catch (thrown) {
    // Usually there is none. On a read-only disk it stays.
    if (systemCode(thrown) === null) throw thrown;
  }
}

/** The name of an attachment for the user. */
export function attachmentName(part: ImagePart | DocumentPart): string {
  return `${part.type} '${part.name ?? part.mime}'`;
}

/** The notice about missing or altered attachments. */
export function lostNotice(parts: readonly (ImagePart | DocumentPart)[]): string {
  const [first] = parts;
  return first !== undefined && parts.length === 1
    ? `The ${attachmentName(first)} is missing or altered; the model is told that it is no longer there. Attach the same file again to bring it back.`
    : `${parts.length} attachments are missing or altered (${parts.map(attachmentName).join(', ')}); the model is told that they are no longer there. Attach the same files again to bring them back.`;
}

/** The notice about attachments that another machine has given out and that are not here yet. */
export function lateNotice(parts: readonly (ImagePart | DocumentPart)[]): string {
  const names = parts.map(attachmentName).join(', ');
  return `Not here yet from another machine: ${names}. The model sees ${parts.length === 1 ? 'it' : 'them'} as soon as ${parts.length === 1 ? 'it has' : 'they have'} arrived.`;
}
