import { closeSync, existsSync, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { DocumentPart, ImagePart } from '../chat/message.js';
import { systemCode } from '../errors.js';
import { makeFolder } from '../folder.js';
import type { HistoryPaths } from './base/history-paths.js';
import { requireAttachmentsFolder } from './file/link-targets.js';

/** The name of the file that marks the loss of this attachment as reported. */
export function lostMarkName(hash: string): string {
  return `${hash}.lost`;
}

/** Marks the loss of an attachment as reported. True if it was not yet; always true if the mark cannot be written. */
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
