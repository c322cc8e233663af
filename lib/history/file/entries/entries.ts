import { type Entry, isMessage, storedText } from '../../../chat/entry.js';
import { Damaged } from '../frames/damaged.js';
import { ArraySplitter } from './array-splitter.js';
import { decodeEntry } from './decode-entry.js';

/** Ids stay below this number, far from the largest safe integer, 2 ** 53 - 1. */
export const ID_LIMIT = 2 ** 52;

/** A file of another program whose last id reaches this number gets new ids, so that there is room for later ones. */
export const ROOM_LIMIT = ID_LIMIT - 2 ** 20;

const COMMA = 0x2c;
const OPEN = 0x5b;

/**
 * The entries in the content of one frame: whole entries with commas between them, after an optional leading `[` or `,`.
 * Throws `Damaged` for anything else.
 */
export function entriesIn(content: Buffer): readonly Entry[] {
  const lead = content[0];
  const text = content.toString('utf8', lead === COMMA || lead === OPEN ? 1 : 0);
  const values = parsed(`[${text}]`);
  // Only entries with placeholders need their text, and they are rare.
  let texts: readonly string[] | null = null;
  const textAt = (index: number): string => {
    texts ??= Array.from(new ArraySplitter().push(Buffer.from(`[${text}]`)), (piece) => piece.toString());
    return texts[index] ?? '';
  };
  return values.map((value, index) => {
    const entry = decodeEntry(value, () => textAt(index));
    if (entry === null) throw new Damaged('A frame contains something that is not an entry.');
    return entry;
  });
}

/** The entry in some text, null when it is not one. */
export function entryIn(text: Buffer): Entry | null {
  try {
    return decodeEntry(JSON.parse(text.toString()), () => text.toString());
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return null;
    throw thrown;
  }
}

/** The id of the first entry in the content of a frame. */
export function firstIdIn(content: Buffer): number {
  // hi writes the id first, so that this need not parse the frame.
  const match = /^[[,]?\{"id":(\d+)[,}]/.exec(content.toString('latin1', 0, 64));
  return match ? Number(match[1]) : (entriesIn(content)[0]?.id ?? 0);
}

/** The content of a frame with these entries; the first one of a history has no comma before it. */
export function frameContent(entries: readonly Entry[], first: boolean): Buffer {
  const pieces = entries.flatMap((entry, index) => (index === 0 && first ? [] : [',']).concat(storedText(entry)));
  // Not joined into one string first: that would copy a long answer once more.
  const content = Buffer.allocUnsafe(pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0));
  let at = 0;
  for (const piece of pieces) at += content.write(piece, at);
  return content;
}

/** How many of the entries are messages. */
export function messagesIn(entries: readonly Entry[]): number {
  let messages = 0;
  for (const entry of entries) if (isMessage(entry)) messages += 1;
  return messages;
}

/** The entries from the `count`th last message on; all when there are fewer. */
export function lastMessages(entries: readonly Entry[], count: number): readonly Entry[] {
  let left = count;
  const before = entries.findLastIndex((entry) => isMessage(entry) && --left < 0);
  return entries.slice(before + 1);
}

function parsed(text: string): readonly unknown[] {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Damaged('A frame contains something that is not JSON.', { cause });
  }
}
