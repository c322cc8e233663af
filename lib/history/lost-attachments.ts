import { closeSync, existsSync, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { DocumentPart, ImagePart } from '../chat/message.js';
import { systemCode } from '../errors.js';
import { makeFolder } from '../folder.js';
import type { HistoryPaths } from './base/history-paths.js';
import { requireAttachmentsFolder } from './file/links.js';

/** The name, among the attachments, of the mark that the user was told of the loss of this one. */
export function lostMarkName(hash: string): string {
  return `${hash}.lost`;
}

/** Remembers that the user was told that these bytes are gone; true when that was not known yet. Where nothing is, or can be, written the user is told again. */
export function markLost(paths: HistoryPaths, hash: string, writes: boolean): boolean {
  const mark = join(paths.attachments, lostMarkName(hash));
  if (!writes) return !existsSync(mark);
  try {
    requireAttachmentsFolder(paths);
    makeFolder(paths.attachments, 0o700);
    closeSync(openSync(mark, 'wx', 0o600));
    return true;
  } catch (thrown) {
    return systemCode(thrown) !== 'EEXIST' || !existsSync(mark);
  }
}

/** These bytes are there again: should they be lost once more, the user is told once more. */
export function clearLostMark(paths: HistoryPaths, hash: string): void {
  try {
    unlinkSync(join(paths.attachments, lostMarkName(hash)));
  } catch (thrown) {
    // Mostly there is none; where nothing can be written it stays.
    if (systemCode(thrown) === null) throw thrown;
  }
}

/** An attachment as a user knows it. */
export function attachmentName(part: ImagePart | DocumentPart): string {
  return `${part.type} '${part.name ?? part.mime}'`;
}

/** What the user is told of attachments that are gone or not what they were. */
export function lostNotice(parts: readonly (ImagePart | DocumentPart)[]): string {
  const [first] = parts;
  return first !== undefined && parts.length === 1
    ? `The ${attachmentName(first)} is missing or altered; the model is told that it is no longer there. Attach the same file again to bring it back.`
    : `${parts.length} attachments are missing or altered (${parts.map(attachmentName).join(', ')}); the model is told that they are no longer there. Attach the same files again to bring them back.`;
}
