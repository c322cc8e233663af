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
  /** Three words for each digest at the place that its first one leads to, or behind it; zeros where there is none. */
  #slots = new Uint32Array(3 * 1024);
  #count = 0;

  /** Adds a message. False if it was there. */
  add(message: Identity): boolean {
    const isOwnNew = this.#add(ownKey(message));
    const isCopyNew = message.at === '' || this.#add(copyKey(message));
    return isOwnNew && isCopyNew;
  }

  /** False if it was there. A set of strings would take 80 bytes for each instead of 24 to 48. */
  #add(key: string): boolean {
    if (!enter(this.#slots, [wordOf(key, 0), wordOf(key, 4), wordOf(key, 8)])) return false;
    this.#count += 1;
    if (this.#count * 6 > this.#slots.length) this.#grow();
    return true;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(before.length * 2);
    for (let at = 0; at < before.length; at += 3)
      enter(this.#slots, [before[at] ?? 0, before[at + 1] ?? 0, before[at + 2] ?? 0]);
  }
}

type Digest = readonly [number, number, number];

/** Puts a digest into the first free slot from its place on. False if it is there, or has nothing but zeros. */
function enter(slots: Uint32Array, [first, second, third]: Digest): boolean {
  if (first === 0 && second === 0 && third === 0) return false;
  const count = slots.length / 3;
  for (let slot = first % count; ; slot = (slot + 1) % count) {
    const at = slot * 3;
    if (slots[at] === first && slots[at + 1] === second && slots[at + 2] === third) return false;
    if (slots[at] !== 0 || slots[at + 1] !== 0 || slots[at + 2] !== 0) continue;
    slots.set([first, second, third], at);
    return true;
  }
}

/** Four characters of a digest. */
function wordOf(key: string, at: number): number {
  const byte = (index: number): number => key.charCodeAt(at + index) << (8 * index);
  return (byte(0) | byte(1) | byte(2) | byte(3)) >>> 0;
}

/** What identifies a message in its source. */
export const ownKey = ({ thread, id }: Pick<Identity, 'thread' | 'id'>): string => digest('id', thread, id);

const copyKey = ({ id, at, role, text }: Identity): string => digest('copy', id, at, role, text);

/** Twelve bytes: a million messages have two of the same with a chance of 10^-17. */
const digest = (...parts: readonly string[]): string => hash(parts).toString('latin1', 0, 12);

const hash = (parts: readonly string[]): Buffer => createHash('sha1').update(JSON.stringify(parts)).digest();
