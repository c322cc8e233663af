import type { Message } from '../../chat/message.js';

/** The data to forget in a conversation, its copies and its attachments. */
export interface Forgettable {
  /** The messages to remove, oldest first. */
  readonly messages: readonly Message[];
  /** The number of summaries to remove because they are based on these messages or contain the text. */
  readonly summaries: number;
  /** The number of pins and other elements to remove. */
  readonly others: number;
  /** The number of messages and summaries that only lose data that hi had added to them. */
  readonly shortened: number;
  /** The copies to change, and those to remove. */
  readonly copies: readonly ForgettableCopy[];
  /** The number of attachments to which no other message refers. */
  readonly attachments: number;
}

/** A copy: the conversation before a reset, or a damaged file. */
export interface ForgettableCopy {
  readonly path: string;
  /** The number of messages to remove; null for the whole file. */
  readonly messages: number | null;
}

/** True if there is nothing to forget. */
export function isNothing({ messages, summaries, others, shortened, copies, attachments }: Forgettable): boolean {
  return messages.length + summaries + others + shortened + copies.length + attachments === 0;
}
