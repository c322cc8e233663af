import { rmSync } from 'node:fs';
import type { Message } from '../chat/message.js';
import { attachmentsIn } from '../history/attachments.js';
import { type BookFiles, BookWriter, messagesOf, removeAttachments } from './book.js';

/** The messages of a book that are to be forgotten. Throws a `HiError` if it is damaged. */
export function messagesMeant(book: BookFiles, isMeant: (message: Message) => boolean): readonly Message[] {
  const meant: Message[] = [];
  for (const message of messagesOf(book)) if (message.content.length > 0 && isMeant(message)) meant.push(message);
  return meant;
}

/**
 * Removes messages from a book, with the attachments that only they had, and its index. The ids that their source gave them stay, so that a later import does
 * not bring them back.
 */
export function forgetInBook(book: BookFiles, isMeant: (message: Message) => boolean): void {
  const kept = new Set<string>();
  const writer = new BookWriter(book);
  try {
    for (const message of messagesOf(book)) {
      const isGone = message.content.length > 0 && isMeant(message);
      writer.keep(isGone ? shellOf(message) : message);
      if (!isGone) for (const { sha256 } of attachmentsIn(message)) kept.add(sha256);
    }
    writer.commit();
  } catch (thrown) {
    writer.discard();
    throw thrown;
  }
  removeAttachments(book.attachments, kept);
  rmSync(book.index, { recursive: true, force: true });
}

function shellOf({ id, turn, role, imported }: Message): Message {
  const from = imported && { thread: imported.thread, id: imported.id };
  return { id, turn, at: '', cwd: '', role, content: [], ...(from !== undefined && { imported: from }) };
}
