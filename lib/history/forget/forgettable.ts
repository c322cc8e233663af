import type { Message } from '../../chat/message.js';

/** What a conversation, its copies and its attachments have of what is to be forgotten. */
export interface Forgettable {
  /** The messages that go, oldest first. */
  readonly messages: readonly Message[];
  /** How many summaries go because they rest on them, or say it. */
  readonly summaries: number;
  /** How many pins and other elements go. */
  readonly others: number;
  /** How many messages and summaries stay without something that hi had added to them. */
  readonly shortened: number;
  /** The copies of which something goes, and those that go as a whole. */
  readonly copies: readonly ForgettableCopy[];
  /** How many attachments no other message refers to. */
  readonly attachments: number;
}

/** A file put aside: an earlier conversation, or a damaged one. */
export interface ForgettableCopy {
  readonly path: string;
  /** How many messages go; null where the whole file does. */
  readonly messages: number | null;
}

/** Whether there is nothing to forget. */
export function isNothing({ messages, summaries, others, shortened, copies, attachments }: Forgettable): boolean {
  return messages.length + summaries + others + shortened + copies.length + attachments === 0;
}
