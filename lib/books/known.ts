import { createHash } from 'node:crypto';
import { isPart, type NewMessage, textOf, typedText } from '../chat/message.js';
import type { ForeignMessage } from './common/book-source.js';

/** What decides whether a message is in the book already. */
export interface Identity {
  readonly thread: string;
  readonly id: string;
  readonly at: string;
  readonly role: NewMessage['role'];
  readonly text: string;
}

/** The messages with an id each, where the source gave some of them none, or one id to several. */
export function withIds(messages: readonly ForeignMessage[]): readonly ForeignMessage[] {
  const taken = new Map<string, ForeignMessage>();
  return messages.map((message) => {
    const same = message.id === '' ? message : taken.get(message.id);
    if (same === undefined || (same !== message && isCopy(same, message))) {
      taken.set(message.id, message);
      return message;
    }
    const base = message.id || hash([message.at, message.role, identityOf('', message).text]).toString('hex', 0, 8);
    let id = base;
    for (let number = 2; taken.has(id); number += 1) id = `${base}/${number}`;
    const named = { ...message, id };
    taken.set(id, named);
    return named;
  });
}

const isCopy = (one: ForeignMessage, other: ForeignMessage): boolean =>
  copyKey(identityOf('', one)) === copyKey(identityOf('', other));

/** The identity of a message of a source. */
export function identityOf(thread: string, message: ForeignMessage): Identity {
  const { id, at, role } = message;
  const content = message.content.filter((part) => part.type !== 'attached');
  return { thread, id, at, role, text: spokenText(role, content) };
}

/** What was said, without files. */
export function spokenText(role: NewMessage['role'], content: NewMessage['content']): string {
  if (role === 'tool') return JSON.stringify(content.filter(isPart('tool_result')));
  return role === 'user' ? typedText(content) : textOf(content);
}

/**
 * The messages of a book by the ids of their source. A message that the source copied into another conversation, with
 * its id, its time and its words, is there already too; without a time nothing tells a copy from "yes" said twice.
 */
export class KnownMessages {
  readonly #digests = new Set<string>();

  /** Adds a message. False if it was there. */
  add(message: Identity): boolean {
    const keys = message.at === '' ? [ownKey(message)] : [ownKey(message), copyKey(message)];
    const isKnown = keys.some((key) => this.#digests.has(key));
    for (const key of keys) this.#digests.add(key);
    return !isKnown;
  }
}

/** What identifies a message in its source. */
export const ownKey = ({ thread, id }: Pick<Identity, 'thread' | 'id'>): string => digest('id', thread, id);

const copyKey = ({ id, at, role, text }: Identity): string => digest('copy', id, at, role, text);

/** Twelve bytes: a million messages have two of the same with a chance of 10^-17. */
const digest = (...parts: readonly string[]): string => hash(parts).toString('latin1', 0, 12);

const hash = (parts: readonly string[]): Buffer => createHash('sha1').update(JSON.stringify(parts)).digest();
