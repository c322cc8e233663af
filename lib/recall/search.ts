import type { Message } from '../chat/message.js';
import type { PlainKind } from './index/part.js';
import type { Origin } from './origin.js';

/** The speaker to search for. */
export type Speaker = 'user' | 'model' | 'tool';

/** A search. */
export interface Search {
  /** The words; text in quotes must occur literally. Without words, everything in the given period. */
  readonly query: string;
  readonly who: Speaker | null;
  /** Inclusive, like `until`. */
  readonly from: Date | null;
  readonly until: Date | null;
  /** Only messages with all the words, if there are any. */
  readonly every?: boolean;
  /** The number of hits wanted. */
  readonly count: number;
}

/** A message and its origin. */
export interface Said {
  readonly message: Message;
  readonly origin: Origin;
}

/** A message that was found. */
export interface Hit extends Said {
  readonly kind: PlainKind;
  /** Its searchable text. */
  readonly text: string;
  /** The messages right before and after it. */
  readonly before: Said | null;
  readonly after: Said | null;
  /** The certainty of the match, and the id of a newer message with the same words, null for none. */
  readonly certainty: number;
  readonly newer: number | null;
}

/** The outcome of a search. */
export interface Found {
  /** Best first. */
  readonly hits: readonly Hit[];
  /** False if no hit has all the words. */
  readonly isWhole: boolean;
  /** The number of further hits that match about as well. */
  readonly more: number;
  /** The share of the conversation that is not indexed yet and was not searched, from 0 to 1. */
  readonly unsearched: number;
}

/** The outcome without the unsearched share. */
export type Finds = Omit<Found, 'unsearched'>;

/** Whether a message is in the period of the search. */
export function isWithin({ at }: Message, { from, until }: Pick<Search, 'from' | 'until'>): boolean {
  const time = Date.parse(at);
  return (from === null || time >= from.getTime()) && (until === null || time <= until.getTime());
}

/** A message to recall automatically. */
export interface Reminder extends Said {
  /** Its searchable text. */
  readonly text: string;
  readonly certainty: number;
}

/** The outcome of automatic recall. */
export interface Reminded {
  /** Best first. */
  readonly reminders: readonly Reminder[];
  /** The certainty of the best match, and the thresholds. */
  readonly best: number;
  readonly thresholds: { readonly whole: number; readonly newest: number };
}
