import { type JsonObject, wellFormedJson } from './json.js';
import { type Message, type NewMessage, type RestsOn, spokenParts, type Usage } from './message.js';
import type { Tokens } from './request.js';

/**
 * Where the text of a compress block came from. A `fallback` summarises nothing: the next summary begins where the last
 * one ended.
 */
export type CompactionSource = 'model' | 'cache' | 'none' | 'fallback';

/** The outcome of a compaction. The newest one decides what is sent. */
export interface NewCompressBlock {
  readonly type: 'compress';
  /** The text that replaces the older messages; empty when nothing does. */
  readonly content: string;
  readonly strategy: string;
  readonly source: CompactionSource;
  /**
   * `own` if the text rests only on what the user typed, and on what the model said without having read anything else.
   */
  readonly rests_on?: RestsOn;
  /** The id of the first message that is still sent word for word; null when none is. */
  readonly first_kept: number | null;
  readonly messages_compacted: number;
  readonly messages_kept: number;
  readonly tokens_before: Tokens;
  readonly tokens_after: Tokens;
  /** Everything else a strategy must remember: ledger, artifacts, pruned results. */
  readonly state?: JsonObject;
  /** The messages that were pinned when it was written. */
  readonly pins?: Pins;
  /** For a block that takes the last compaction back: the id of the block that is in effect again; 0 for none. */
  readonly restores?: number;
  readonly usage?: Usage;
  /** True if it compacts an aside, and not the conversation. */
  readonly aside?: true;
  readonly model?: string;
  /** The model that wrote it, and its server, as in messages. */
  readonly provider?: string;
  readonly api_base?: string;
  readonly server?: string;
}

/** The strategy of a block that was written after a pause, without asking a model. */
export const REST = 'rest';

/**
 * The strategy of a block that brought everything back into view that fits. It is in effect until the next block, and
 * no other is made from it.
 */
export const WHOLE = 'all';

/** The strategy of a block that was written because much arrived from other machines, without asking a model. */
export const ARRIVAL = 'arrival';

export interface CompressBlock extends NewCompressBlock {
  readonly id: number;
  readonly at: string;
}

/** The user undid turns: they stay in the archive and are no longer sent. */
interface NewUndo {
  readonly type: 'undo';
  readonly turns: readonly number[];
  readonly v?: number;
}

/** The user redid turns that were undone: they are sent again. */
interface NewRedo {
  readonly type: 'redo';
  readonly turns: readonly number[];
  readonly v?: number;
}

/** The messages that stay in view word for word, and the id of the last entry that was considered for that. */
export interface Pins {
  readonly until: number;
  readonly messages: readonly Message[];
}

/** The user keeps a message in view through compactions. The mark contains the message, which may be far back. */
interface NewPin {
  readonly type: 'pin';
  readonly message: Message;
  readonly v?: number;
}

/** The user no longer keeps these messages in view. */
interface NewUnpin {
  readonly type: 'unpin';
  readonly messages: readonly number[];
  readonly v?: number;
}

/**
 * These turns, and messages of other turns, were forgotten and must not come again from another machine or a backup.
 */
interface NewForgotten {
  readonly type: 'forgotten';
  /** Names what was forgotten at a time, on all machines. */
  readonly uid: string;
  /** The names of the turns. */
  readonly forgotten_turns: readonly string[];
  /** The names of the turns of single messages, with the time and the role of the message. */
  readonly forgotten_messages: readonly (readonly [turn: string, at: string, role: string])[];
}

/**
 * What the user decided about the conversation, appended to the log. A mark with a `v`, the number of the decision,
 * came from another machine.
 */
export type NewMark = NewUndo | NewRedo | NewPin | NewUnpin | NewForgotten;

/** A mark in the history, of the conversation or of an aside. */
export type Mark = NewMark & { readonly id: number; readonly at: string; readonly aside?: true };

/** An element that this version cannot read. It stays in the file and is shown to the user, but never sent. */
export interface UnknownEntry {
  readonly type: 'unknown';
  readonly id: number;
  readonly at: string;
  /** `an element of type 'poll'`. */
  readonly what: string;
}

/** An element of the history's JSON array. Messages have no `type`. */
export type Entry = Message | CompressBlock | Mark | UnknownEntry;

/** True for a message, false for any other entry. */
export function isMessage(entry: Entry): entry is Message {
  return !('type' in entry);
}

/** True for what was said, compacted or decided in an aside (`--fresh`), which no other view contains. */
export function isAside(entry: Entry): boolean {
  return 'aside' in entry && entry.aside === true;
}

/** True for compress blocks. */
export function isCompressBlock(entry: Entry): entry is CompressBlock {
  return 'type' in entry && entry.type === 'compress';
}

/** The stored JSON of entries that this version reads in a different form. */
const ORIGINALS = new WeakMap<Entry, string>();

/** Remembers the stored JSON of an entry that this version cannot read as it is. Returns the entry. */
export function rememberOriginal<Kind extends Entry>(entry: Kind, text: string): Kind {
  ORIGINALS.set(entry, text);
  return entry;
}

/** The stored JSON of an entry where it differs from the entry itself, else null. */
export function originalText(entry: Entry): string | null {
  return ORIGINALS.get(entry) ?? null;
}

/** An entry as JSON without lone surrogates, with everything that a later version or another program wrote into it. */
export function storedText(entry: Entry): string {
  return wellFormedJson(ORIGINALS.get(entry) ?? JSON.stringify(entry));
}

/** An entry as it reads after it was stored: the entries in memory must not differ from those in the file. */
export function asStored<Kind extends Entry>(entry: Kind): Kind {
  return isWellFormed(entry) ? entry : JSON.parse(wellFormedJson(JSON.stringify(entry)));
}

/** Whether no text in a value has a lone surrogate. */
function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, part]) => isWellFormed(key) && isWellFormed(part));
}

/** Whether a user message contains more than what was typed. */
export function hasForeignParts({ role, content }: Pick<NewMessage, 'role' | 'content'>): boolean {
  return role === 'user' && spokenParts(content).length > 1;
}

/** Whether a user message is the output of a command. Such a turn ends at once. */
export function isCommandOutput({ role, stop_reason }: Pick<NewMessage, 'role' | 'stop_reason'>): boolean {
  return role === 'user' && stop_reason !== undefined;
}

/**
 * Whether a message contains text that neither the user nor the model wrote here, from a tool, a file, a page, a
 * command, an imported book, or a summary based on such text.
 */
export function bringsForeign(message: NewMessage): boolean {
  return (
    message.role === 'tool' ||
    message.sources !== undefined ||
    message.rests_on === 'foreign' ||
    hasForeignParts(message) ||
    message.content.some((part) => part.type === 'text' && part.book !== undefined) ||
    isCommandOutput(message)
  );
}

/** Whether a block may contain text that neither the user nor the model wrote. True if the block does not say. */
export function isForeignBlock(block: Pick<NewCompressBlock, 'content' | 'rests_on'> | null): boolean {
  return block !== null && block.content !== '' && block.rests_on !== 'own';
}

/** What a summary of that block and these messages rests on: `foreign` if any of them is. */
export function restingOn(
  block: Pick<NewCompressBlock, 'content' | 'rests_on'> | null,
  messages: readonly NewMessage[],
): 'own' | 'foreign' {
  return isForeignBlock(block) || messages.some(bringsForeign) ? 'foreign' : 'own';
}
