import { type Entry, isMessage } from '../chat/message.js';
import { Damaged } from './damaged.js';

const COMMA = 0x2c;
const OPEN = 0x5b;

/**
 * The entries in the content of one frame: whole entries with commas between them, after an optional leading `[` or `,`.
 * Throws `Damaged` when it is anything else.
 */
export function entriesIn(content: Buffer): readonly Entry[] {
  const lead = content[0];
  const text = content.toString('utf8', lead === COMMA || lead === OPEN ? 1 : 0);
  const values = parsed(`[${text}]`);
  if (Array.isArray(values) && values.every(isEntry)) return values;
  throw new Damaged('A frame holds something that is not an entry.');
}

/** The entry that some text is, or null when it is none. */
export function entryIn(text: Buffer): Entry | null {
  try {
    const value: unknown = JSON.parse(text.toString());
    return isEntry(value) ? value : null;
  } catch {
    return null;
  }
}

/** The id of the first entry in the content of a frame. */
export function firstIdIn(content: Buffer): number {
  // hi writes the id first, so the first entry need not be parsed with all that follow.
  const told = /^[[,]?\{"id":(\d+)[,}]/.exec(content.toString('latin1', 0, 64));
  return told ? Number(told[1]) : (entriesIn(content)[0]?.id ?? 0);
}

/** What a frame holds for these entries; the first of a history has no comma before it. */
export function contentOf(entries: readonly Entry[], first: boolean): Buffer {
  const texts = entries.map((entry) => JSON.stringify(entry));
  return Buffer.from((first ? '' : ',') + texts.join(','));
}

/** How many of the entries are messages. */
export function messagesIn(entries: readonly Entry[]): number {
  return entries.filter(isMessage).length;
}

/** The entries from the `count`th last message on; all when there are fewer. */
export function lastMessages(entries: readonly Entry[], count: number): readonly Entry[] {
  let left = count;
  const before = entries.findLastIndex((entry) => isMessage(entry) && --left < 0);
  return entries.slice(before + 1);
}

/** True for what may stand in the history: an object with an id and a time, and for a message a turn, a role and parts. */
export function isEntry(value: unknown): value is Entry {
  if (typeof value !== 'object' || value === null) return false;
  if (!('id' in value) || !Number.isSafeInteger(value.id) || Number(value.id) < 1) return false;
  if (!('at' in value) || typeof value.at !== 'string') return false;
  if ('type' in value) return isMark(value);
  if (!('turn' in value) || !Number.isSafeInteger(value.turn)) return false;
  if (!('content' in value) || !Array.isArray(value.content) || !value.content.every(isPart)) return false;
  return 'role' in value && (value.role === 'user' || value.role === 'assistant' || value.role === 'tool');
}

function isMark(value: { readonly type: unknown }): boolean {
  if (value.type === 'compress') return 'content' in value && typeof value.content === 'string';
  if (value.type === 'undo') return 'turns' in value && Array.isArray(value.turns);
  // A later version may know more kinds: they are kept, and nobody here reads them.
  return typeof value.type === 'string';
}

function isPart(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Damaged('A frame holds something that is not JSON.', { cause });
  }
}
