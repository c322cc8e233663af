import { rmSync } from 'node:fs';
import { storedText } from '../chat/entry.js';
import type { Message } from '../chat/message.js';
import { occurrenceOf } from '../chat/occurrence.js';
import { attachmentsIn } from '../history/attachments.js';
import { attachmentsWith } from '../history/forget-everywhere.js';
import { type BookFiles, BookWriter, messagesOf, removeAttachments } from './book.js';

/** Which messages of a book are to be forgotten. */
export interface MeantInBook {
  readonly book: BookFiles;
  readonly messages: readonly Message[];
  /** Whether nothing is: no message, and no attachment of none. */
  readonly isNothing: boolean;
  isMeant(message: Message): boolean;
}

/**
 * The messages of a book with a text, in their words or in a file that was attached. Throws a `HiError` if the book is
 * damaged.
 */
export function withText(book: BookFiles, text: string): MeantInBook {
  const holds = occurrenceOf(text);
  const marked = attachmentsWith(book.attachments, { kind: 'text', text });
  const isMarked = (message: Message): boolean => attachmentsIn(message).some(({ sha256 }) => marked.has(sha256));
  const found = meantInBook(book, (message) => holds(storedText(message)) || isMarked(message));
  return { ...found, isNothing: found.isNothing && marked.size === 0 };
}

/** The messages of a book that are meant. Throws a `HiError` if it is damaged. */
export function meantInBook(book: BookFiles, isMeant: (message: Message) => boolean): MeantInBook {
  const messages: Message[] = [];
  for (const message of messagesOf(book)) if (message.content.length > 0 && isMeant(message)) messages.push(message);
  return { book, messages, isNothing: messages.length === 0, isMeant };
}

/**
 * Removes messages from a book, with the attachments that only they had, and its index. The ids that their source gave
 * them stay, so that a later import does not bring them back.
 */
export function forgetInBook({ book, isMeant }: MeantInBook): void {
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
