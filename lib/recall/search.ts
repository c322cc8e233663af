import type { Message } from '../chat/message.js';
import type { PlainKind } from './index/part.js';
import type { Origin } from './origin.js';

/** Whose words are looked for. */
export type Speaker = 'user' | 'model' | 'tool';

/** What is looked for. */
export interface Search {
  /** The words; what stands in quotes must be there just so. Without words, everything in the time that is given. */
  readonly query: string;
  readonly who: Speaker | null;
  /** Both included. */
  readonly from: Date | null;
  readonly until: Date | null;
  /** Only messages with all the words, where there are any. */
  readonly every?: boolean;
  /** How many hits are wanted. */
  readonly count: number;
}

/** A message, and where its words come from. */
export interface Said {
  readonly message: Message;
  readonly origin: Origin;
}

/** A message that was found. */
export interface Hit extends Said {
  readonly kind: PlainKind;
  /** Everything in it that was searched. */
  readonly text: string;
  /** What was said right before and after it. */
  readonly before: Said | null;
  readonly after: Said | null;
  /** How sure it is that this was meant, and the id of a newer message with the same words, null for none. */
  readonly certainty: number;
  readonly newer: number | null;
}

/** The outcome of a search. */
export interface Found {
  /** Best first. */
  readonly hits: readonly Hit[];
  /** False if none of them has all the words. */
  readonly isWhole: boolean;
  /** How many more there are that fit about as well. */
  readonly more: number;
  /** How much of the conversation is not indexed yet and was not searched, from 0 to 1. */
  readonly unsearched: number;
}

/** What was found, apart from what is not indexed. */
export type Finds = Omit<Found, 'unsearched'>;

/** Whether a message is of the time that is asked for. */
export function isWithin({ at }: Message, { from, until }: Pick<Search, 'from' | 'until'>): boolean {
  const time = Date.parse(at);
  return (from === null || time >= from.getTime()) && (until === null || time <= until.getTime());
}

/** A message that another one may be reminded of, unasked. */
export interface Reminder extends Said {
  /** Everything in it that was searched. */
  readonly text: string;
  readonly certainty: number;
}

/** The outcome of a search that nobody asked for. */
export interface Reminded {
  /** Best first. */
  readonly reminders: readonly Reminder[];
  /** How sure the search is of the best match there is, and how sure it has to be. */
  readonly best: number;
  readonly threshold: number;
}
