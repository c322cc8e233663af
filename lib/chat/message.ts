import type { JsonObject, JsonValue } from './json.js';
import type { Tokens } from './tokens.js';

/**
 * What the vendor must get back unchanged with a part (a thinking signature, encrypted reasoning, a thought signature,
 * a block of unknown type). Only the adapter that wrote it reads it, and only for the provider and model that the message names.
 */
export type Opaque = JsonObject;

/** Words, in Markdown as the model wrote them. */
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  readonly opaque?: Opaque;
}

/** An image. The bytes are kept beside the history under their SHA-256. */
export interface ImagePart {
  readonly type: 'image';
  /** `image/png`, `image/jpeg`, `image/gif` or `image/webp`. */
  readonly mime: string;
  /** SHA-256 of the bytes, 64 lower-case hexadecimal digits. */
  readonly sha256: string;
  /** Size in bytes. */
  readonly bytes: number;
  readonly width?: number;
  readonly height?: number;
  /** The file's name as the user gave it. */
  readonly name?: string;
}

/** A document that goes to the model as a file (PDF). Kept like an image. */
export interface DocumentPart {
  readonly type: 'document';
  /** `application/pdf`. */
  readonly mime: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly name?: string;
}

/** The model asks for a tool. */
export interface ToolCallPart {
  readonly type: 'tool_call';
  /** Unique in the conversation: the vendor's id, or one made here where the vendor gives none. */
  readonly call_id: string;
  readonly name: string;
  readonly args: JsonObject;
  /** The arguments as they came, when they were not a JSON object, or that they were nested too deeply; `args` is then empty and the call must not run. */
  readonly invalid_args?: string;
  readonly opaque?: Opaque;
}

/** What a tool answered: `result`, or `error` with the reason. Exactly one of the two is there. */
export type ToolResultPart = {
  readonly type: 'tool_result';
  readonly call_id: string;
  readonly name: string;
} & ({ readonly result: JsonValue; readonly error?: never } | { readonly error: string; readonly result?: never });

/** What the model thought aloud. */
export interface ThinkingPart {
  readonly type: 'thinking';
  readonly text: string;
  readonly opaque?: Opaque;
}

/** A block whose meaning only its vendor knows: not shown, kept, sent back in its place. */
export interface VendorPart {
  readonly type: 'vendor';
  readonly opaque: Opaque;
}

export type Part = TextPart | ImagePart | DocumentPart | ToolCallPart | ToolResultPart | ThinkingPart | VendorPart;

/** The parts a model's answer is made of. */
export type AnswerPart = TextPart | ThinkingPart | ToolCallPart | VendorPart;

/** Tokens as one vendor-independent count. Every number is the vendor's own, never an estimate. */
export interface Usage {
  /** Prompt tokens, those read from or written to a cache included. */
  readonly input_tokens: number;
  /** Tokens of the answer, thinking included. */
  readonly output_tokens: number;
  /** The part of `input_tokens` that was read from the provider's cache. */
  readonly cached_tokens: number;
  /** What the window held when the answer ended: `input_tokens` + `output_tokens`. */
  readonly context_tokens: number;
}

/** Why an answer ended. `tool_calls`: it waits for results. `tool_limit` and `interrupted` are the program's own. */
export type StopReason = 'end' | 'tool_calls' | 'length' | 'refusal' | 'tool_limit' | 'interrupted';

/** How a skill stands in the conversation after a message. */
export interface SkillStanding {
  /** How often it was matched; a match counts less with every message that passes. */
  readonly uses: number;
  /** How many messages ago it was matched or loaded by hand. */
  readonly idle: number;
  /** Set by hand: `pinned` skills stay, `dropped` ones stay away, each until the user says otherwise. */
  readonly hand?: 'pinned' | 'dropped';
}

/** What the skills did for a user message: recorded with it, so that all skill state can be derived from the log. */
export interface SkillRecord {
  /** Names that matched this message, best first. */
  readonly matched: readonly string[];
  /** Names whose text goes with the requests of this turn. */
  readonly active: readonly string[];
  /** Names still relevant to the recent conversation though not matched. */
  readonly held?: readonly string[];
  /** Names the user loaded by hand with this message (they stay), and dropped by hand. */
  readonly pinned?: readonly string[];
  readonly dropped?: readonly string[];
  /** Every skill that still counts for something, by name: what a later message goes on from when older ones have been compacted away. */
  readonly standing?: Readonly<Record<string, SkillStanding>>;
}

/** A message as the turn makes it, before the history gives it its place. */
export interface NewMessage {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly content: readonly Part[];
  /** Working folder when it was written. */
  readonly cwd: string;
  readonly model?: string;
  readonly provider?: string;
  readonly usage?: Usage;
  readonly stop_reason?: StopReason;
  readonly skills?: SkillRecord;
}

/** A message in the history. */
export interface Message extends NewMessage {
  /** Ascending, unique in the conversation. */
  readonly id: number;
  /** The id of the user message that began the turn; its own id for that message. */
  readonly turn: number;
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** Where a compress block's text came from. A `fallback` covers nothing: the next summary begins where the last one ended. */
export type CompactionSource = 'model' | 'cache' | 'none' | 'fallback';

/** What one compaction left behind. The newest one decides what is sent. */
export interface NewCompressBlock {
  readonly type: 'compress';
  /** What the model reads in place of the older messages; empty when nothing replaces them. */
  readonly content: string;
  readonly strategy: string;
  readonly source: CompactionSource;
  /** The id of the first message still sent word for word, null when none. */
  readonly first_kept: number | null;
  readonly messages_compacted: number;
  readonly messages_kept: number;
  readonly tokens_before: Tokens;
  readonly tokens_after: Tokens;
  /** Everything else a strategy has to remember (ledger, artifacts, pruned results, pin). */
  readonly state?: JsonObject;
  readonly usage?: Usage;
  readonly model?: string;
}

export interface CompressBlock extends NewCompressBlock {
  readonly id: number;
  readonly at: string;
}

/** The user took turns back: they stay in the archive and are no longer sent. */
export interface NewUndo {
  readonly type: 'undo';
  /** The turns taken back. */
  readonly turns: readonly number[];
}

export interface Undo extends NewUndo {
  readonly id: number;
  readonly at: string;
}

/** An element that this version cannot read: kept in the file and named to the reader, never sent. */
export interface UnknownEntry {
  readonly type: 'unknown';
  readonly id: number;
  readonly at: string;
  /** `an element of type 'poll'`. */
  readonly what: string;
}

/** One element of the history's JSON array. Messages have no `type`. */
export type Entry = Message | CompressBlock | Undo | UnknownEntry;

/** True for messages, false for compress blocks and undo marks. */
export function isMessage(entry: Entry): entry is Message {
  return !('type' in entry);
}

/** True for compress blocks. */
export function isCompressBlock(entry: Entry): entry is CompressBlock {
  return 'type' in entry && entry.type === 'compress';
}

/** True for the parts of one type, as a type guard for `filter` and `find`. */
export function isPart<Type extends Part['type']>(type: Type): (part: Part) => part is Extract<Part, { type: Type }> {
  return (part): part is Extract<Part, { type: Type }> => part.type === type;
}

/** The words of a message: its text parts one after another. */
export function textOf(content: readonly Part[]): string {
  return content
    .filter(isPart('text'))
    .map((part) => part.text)
    .join('');
}

/** What the user typed: the last text, for those of files and piped input stand before it. */
export function typedText(content: readonly Part[]): string {
  return content.findLast(isPart('text'))?.text ?? '';
}
