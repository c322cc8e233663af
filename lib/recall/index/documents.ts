import { bringsForeign, type Entry, hasForeignParts, isCommandOutput } from '../../chat/entry.js';
import { RECALL_TOOL } from '../../chat/entry-list.js';
import type { JsonValue } from '../../chat/json.js';
import { withoutElements } from '../../chat/marked-text.js';
import { isPart, type Message, type Part } from '../../chat/message.js';
import { MASK, secretMask } from '../../permission/secrets.js';
import type { Document, Kind, PlainKind } from './part.js';

/** The number of characters at each end of a tool's output that are searched. */
const END = 4000;

/** The beginning of recalled text in a message, which is not recalled again. */
const RECALLED = /<(recalled)\b/g;

/** Masks keys by their known shapes. */
const mask = secretMask([]);

/** The searchable form of a message; null if it has no searchable text. */
export function documentOf(message: Message, kind: Kind): Pick<Document, 'kind' | 'day' | 'text'> | null {
  const text = searchedText(message);
  if (text.trim() === '') return null;
  return { kind, day: Math.floor(Date.parse(message.at) / 86_400_000) || 0, text };
}

/**
 * The searchable text of a message: its text, the arguments of calls, the ends of results, names of attachments, but no
 * thinking and no secrets.
 */
export function searchedText({ content }: Message): string {
  const text = content
    .map(textOfPart)
    .filter((one) => one !== '')
    .join('\n');
  return mask(text).replaceAll(MASK, ' ');
}

/** The kind of a message, judged by the message only. */
export function documentKind(message: Message): PlainKind {
  const { role, content } = message;
  if (role === 'tool') return 'tool';
  if (role === 'user') return isCommandOutput(message) ? 'note' : 'user';
  return content.some((part) => isPart('text')(part) && part.text.trim() !== '') ? 'model' : 'call';
}

function textOfPart(part: Part): string {
  switch (part.type) {
    case 'text':
      if (part.recalled !== undefined || part.clock === true) return '';
      return part.text.includes('<recalled') ? withoutElements(part.text, RECALLED, ' ') : part.text;
    case 'image':
    case 'document':
      return part.name ?? '';
    case 'tool_call':
      return part.name === RECALL_TOOL ? '' : `${part.name} ${ends(valuesOf(part.args))}`;
    case 'tool_result':
      return part.name === RECALL_TOOL ? '' : ends(part.error ?? valuesOf(part.result));
    case 'thinking':
    case 'vendor':
      return '';
  }
}

/** The texts and numbers in a value, without the names of its fields. */
function valuesOf(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value)
    .map(valuesOf)
    .filter((text) => text !== '')
    .join('\n');
}

function ends(text: string): string {
  return text.length <= 2 * END ? text : `${text.slice(0, END)}\n…\n${text.slice(-END)}`;
}

/** A permanently sealed part of the conversation on disk. */
export interface Piece {
  /** Its offset in the file, its size there, and its size as JSON, which together identify it. */
  readonly offset: number;
  readonly size: number;
  readonly content: number;
}

/** An entry of a piece, and the position of its JSON in the content. */
interface PlacedEntry {
  readonly entry: Entry;
  readonly place: number;
}

/** A snapshot of the conversation, until it is closed. */
export interface Archive {
  /** The name of the conversation, which changes with a reset. */
  readonly log: string;
  /** The sealed pieces, oldest first. */
  readonly pieces: readonly Piece[];
  /** The entries of a piece. Throws when it cannot be read. */
  read(piece: Piece): readonly PlacedEntry[];
  /**
   * The JSON of a piece with ASCII letters in lower case. It is valid until the next read. Throws when it cannot be
   * read.
   */
  json(piece: Piece): Buffer;
  /** The entry whose JSON begins at that position of a piece. Throws when there is none. */
  readAt(piece: Piece, place: number): Entry;
  /** The entries of a piece from that position on, read lazily. Throws when there is none. */
  readFrom(piece: Piece, place: number): Iterable<PlacedEntry>;
  /** Changes whenever the result of `rest` changes. */
  readonly restVersion: string;
  /** The unsealed entries, oldest first. */
  rest(): readonly Entry[];
  /**
   * Runs `work`, which writes what was derived from this snapshot, while no other process can change the conversation.
   * False, without running it, if the snapshot is no longer a beginning of the conversation. Throws system errors and a
   * `HiError`.
   */
  ifCurrent(work: () => void): Promise<boolean>;
  /**
   * To be called with what a read threw: repairs the conversation if that means damage, so that it can be opened again,
   * and throws it else.
   */
  recover(thrown: unknown): Promise<void>;
  close(): void;
}

/**
 * Determines the kinds of consecutive messages. The messages before the first are unknown, so a turn that began there
 * counts as one with foreign content: other people's words must never pass for those of the user and the model.
 */
export class KindReader {
  /** The turns that so far contain only words of the user and the model. */
  readonly #own = new Set<number>();
  #isAfterNote: boolean | null = null;

  kindOf(message: Message): Kind {
    const { id, turn } = message;
    const kind = documentKind(message);
    const isAfterNote = this.#isAfterNote ?? id !== 1;
    this.#isAfterNote = kind === 'note';
    const isOwn = !bringsForeign(message) && (id === turn ? !isAfterNote : this.#own.has(turn));
    if (isOwn) this.#own.add(turn);
    else this.#own.delete(turn);
    if (kind === 'user') return hasForeignParts(message) ? 'attached' : 'user';
    return kind === 'model' && !isOwn ? 'foreign' : kind;
  }
}
