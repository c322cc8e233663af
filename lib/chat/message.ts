import { createHash, randomBytes } from 'node:crypto';
import type { JsonObject, JsonValue } from './json.js';
import { textBlock } from './marked-text.js';
import type { Source } from './web-source.js';

/**
 * Data that must be sent back to the vendor unchanged with a part: a thinking signature, encrypted reasoning, a thought
 * signature, a block of unknown type. Only the adapter that wrote it reads it, and only for the provider, model and
 * origin of the message.
 */
export type Opaque = JsonObject;

/** Text. The model's is Markdown. */
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  readonly opaque?: Opaque;
  /** Set for a part that hi added to a user message: the ids of the messages that it recalls. */
  readonly recalled?: readonly number[];
  /** The imported book that these messages are in; absent if they are in the conversation. */
  readonly book?: string;
  /** True for the line with time and place that hi added before the user's words. */
  readonly clock?: true;
}

/** An image. Its bytes are stored next to the history under their SHA-256. */
export interface ImagePart {
  readonly type: 'image';
  /** `image/png`, `image/jpeg`, `image/gif` or `image/webp`; also `image/heic` if the vendor accepts it. */
  readonly mime: string;
  /** SHA-256 of the bytes, 64 lower-case hexadecimal digits. */
  readonly sha256: string;
  /** Size in bytes. */
  readonly bytes: number;
  readonly width?: number;
  readonly height?: number;
  /** The name of the file that the user attached, or in which a model's image was saved. */
  readonly name?: string;
  /** Only for an image that a model generated. */
  readonly opaque?: Opaque;
}

/** A document or an audio file that is sent to the model as a file. Stored like an image. */
export interface DocumentPart {
  readonly type: 'document';
  /** `application/pdf`, or `audio/…`. */
  readonly mime: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly name?: string;
}

/** A tool call of the model. */
export interface ToolCallPart {
  readonly type: 'tool_call';
  /** Unique in the conversation: the vendor's id, or a generated one if the vendor gives none. */
  readonly call_id: string;
  readonly name: string;
  readonly args: JsonObject;
  /**
   * The original arguments if they are not a JSON object, or `TOO_DEEP`. `args` is then empty, and the call must not
   * run.
   */
  readonly invalid_args?: string;
  readonly opaque?: Opaque;
}

/** The outcome of a tool call: either `result`, or `error` with the reason. */
export type ToolResultPart = {
  readonly type: 'tool_result';
  readonly call_id: string;
  readonly name: string;
} & ({ readonly result: JsonValue; readonly error?: never } | { readonly error: string; readonly result?: never });

/** The model's thinking, if it shows any. */
export interface ThinkingPart {
  readonly type: 'thinking';
  readonly text: string;
  readonly opaque?: Opaque;
}

/** A block that only its vendor understands. It is not shown, but stored and sent back in its place. */
export interface VendorPart {
  readonly type: 'vendor';
  readonly opaque: Opaque;
}

export type Part = TextPart | ImagePart | DocumentPart | ToolCallPart | ToolResultPart | ThinkingPart | VendorPart;

/** The parts of a model's answer. */
export type AnswerPart = TextPart | ThinkingPart | ToolCallPart | VendorPart | ImagePart;

/** The tokens of a request in vendor-independent terms. Every number is the vendor's own, never an estimate. */
export interface Usage {
  /** Prompt tokens, including those read from or written to a cache. */
  readonly input_tokens: number;
  /** Tokens of the answer, including thinking. */
  readonly output_tokens: number;
  /** The part of `input_tokens` that was read from the provider's cache. */
  readonly cached_tokens: number;
  /** The tokens in the window when the answer ended: `input_tokens` + `output_tokens`. */
  readonly context_tokens: number;
  /** What else decides the price. Absent if nothing does. */
  readonly billing?: Billing;
}

/** What decides the price of a request beside its tokens. */
export interface Billing {
  /** The model that the answer names, if it is another than the one that was asked. */
  readonly model?: string;
  /** The part of the prompt that was written to the provider's cache, and of that the part that is kept for an hour. */
  readonly cache_write_tokens?: number;
  readonly cache_write_1h_tokens?: number;
  /** The provider's own web searches. */
  readonly web_searches?: number;
  /** The price in US dollars that a gateway reported. */
  readonly cost?: number;
}

/**
 * Why an answer ended. `tool_calls` means that it waits for results. `tool_limit` and `interrupted` come from this
 * program.
 */
export type StopReason = 'end' | 'tool_calls' | 'length' | 'refusal' | 'tool_limit' | 'interrupted';

/** How relevant a skill is to the conversation after a message. */
export interface SkillStanding {
  /** How often it was matched. A match counts less with every later message. */
  readonly uses: number;
  /** How many messages ago it was last matched or loaded by hand. */
  readonly idle: number;
  /** What the user decided: `pinned` skills stay, `dropped` ones stay away, until the user changes it. */
  readonly hand?: 'pinned' | 'dropped';
}

/** The skills of a user message, recorded with it so that the log alone determines all skill state. */
export interface SkillRecord {
  /** The names that match this message, best first. */
  readonly matched: readonly string[];
  /** The names whose text is sent with the requests of this turn. */
  readonly active: readonly string[];
  /** The names that do not match but are still relevant to the recent conversation. */
  readonly held?: readonly string[];
  /** The names that the user loaded by hand with this message, which stay, and dropped by hand. */
  readonly pinned?: readonly string[];
  readonly dropped?: readonly string[];
  /**
   * Every skill that still counts, by name: the starting point of later messages once older ones have been compacted.
   */
  readonly standing?: Readonly<Record<string, SkillStanding>>;
}

/** Whether a text rests only on words of the user and the model, or also on those of tools, files or pages. */
export type RestsOn = 'own' | 'foreign';

/** Where a message of an imported book comes from, in the words of its source. */
export interface Imported {
  /** The ids of its conversation, and of the message in it. */
  readonly thread: string;
  readonly id: string;
  /** The title of the conversation, in its first message. */
  readonly title?: string;
}

/** A message before the history has given it an id. */
export interface NewMessage {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly content: readonly Part[];
  /** The working folder when it was written. */
  readonly cwd: string;
  /** The machine and its time zone (`UTC+1`), in user messages. */
  readonly host?: string;
  readonly zone?: string;
  /** Set in a user message that was sent without any terminal, as from cron: it leaves the view first. */
  readonly via?: 'script';
  /**
   * Set in a user message whose request described no tools: the server has the beginning of other requests in its
   * cache.
   */
  readonly tools?: 'none';
  readonly model?: string;
  readonly provider?: string;
  /**
   * The origin of an answer's opaque parts: a hash of address and key. Absent if there are none, or it is unknown.
   */
  readonly origin?: string;
  /** The address of the server that answered, if it is not the vendor's own, because its prices may differ. */
  readonly api_base?: string;
  /** The server that answered, by its name in the configuration or of its service; absent for that of the flat form. */
  readonly server?: string;
  readonly usage?: Usage;
  readonly stop_reason?: StopReason;
  /** Present if an error, and not the user, interrupted the answer. */
  readonly interrupted_by?: 'error';
  /** Present if the answer used a web search: the pages it cites, if any. Its text is then partly foreign. */
  readonly sources?: readonly Source[];
  /** `foreign` if a summary was in view that rested on text that neither the user nor the model wrote. */
  readonly rests_on?: RestsOn;
  readonly skills?: SkillRecord;
  /** Where an imported message comes from. */
  readonly imported?: Imported;
  /** True for a message of an aside (`--fresh`): it is kept and found, but is in no later view or summary. */
  readonly aside?: true;
  /**
   * In the message that begins a turn: the name of the turn on all machines, see `turnName`. Absent where another
   * program wrote the message.
   */
  readonly uid?: string;
  /** The id of the machine that the message came from, if it was another one. */
  readonly from?: string;
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

/** A type guard for parts of one type, for `filter` and `find`. */
export function isPart<Type extends Part['type']>(type: Type): (part: Part) => part is Extract<Part, { type: Type }> {
  return (part): part is Extract<Part, { type: Type }> => part.type === type;
}

/** Whether a document is an audio file. */
export const isAudio = ({ mime }: DocumentPart): boolean => mime.startsWith('audio/');

/** The text parts of a message, joined. What follows a search is a paragraph of its own. */
export function textOf(content: readonly Part[]): string {
  let [text, isApart] = ['', false];
  for (const part of spokenParts(content)) {
    isApart ||= part.type === 'vendor';
    if (part.type !== 'text' || part.text === '') continue;
    text += (isApart ? gapBetween(text, part.text) : '') + part.text;
    isApart = false;
  }
  return text;
}

/** What begins a new paragraph between two texts; nothing if white space separates them. */
export const gapBetween = (before: string, after: string): string =>
  before === '' || /\s/.test(before.slice(-1) + after.slice(0, 1)) ? '' : '\n\n';

/** The parts of an answer, with texts that follow each other as one: vendors cut a text at its citations. */
export function withWholeTexts(content: readonly Part[]): readonly Part[] {
  const whole: Part[] = [];
  for (const part of content) {
    const last = whole.at(-1);
    if (part.type === 'text' && last?.type === 'text' && !isAdded(part) && !isAdded(last))
      whole[whole.length - 1] = { type: 'text', text: last.text + part.text };
    else whole.push(part);
  }
  return whole;
}

/**
 * What the user typed: the last text part, because files and piped input come before it; `!command` for the report of
 * such a command.
 */
export function typedText(content: readonly Part[]): string {
  return commandOf(content) ?? wordsOf(content);
}

/** The input that sends the same message again: `typedText`, quoted if it would be read as a command or a block. */
export function inputOf(content: readonly Part[]): string {
  return commandOf(content) ?? quotedInput(wordsOf(content));
}

const wordsOf = (content: readonly Part[]): string => spokenParts(content).findLast(isPart('text'))?.text ?? '';

function commandOf(content: readonly Part[]): string | null {
  const own = commandIn(wordsOf(content));
  return own === null ? null : `!${own.command}`;
}

/** The parts of a message except those that hi added: recalled messages, and the line with time and place. */
export function spokenParts(content: readonly Part[]): readonly Part[] {
  return content.some(isAdded) ? content.filter((part) => !isAdded(part)) : content;
}

/** The ids of the messages of the conversation that a message recalls. */
export function recalledIn(content: readonly Part[]): readonly number[] {
  return content.filter(isPart('text')).flatMap(({ recalled = [], book }) => (book === undefined ? recalled : []));
}

const isAdded = (part: Part): boolean => part.type === 'text' && (part.recalled !== undefined || part.clock === true);

/** How a command that the user ran with `!` is told to the model. */
const BEGINNING = 'I ran this command myself: ';
const OUTPUT = /\n\n<(output(?:-\d{1,9})?)>\n/;
const FAILURE = '\n\nIt did not finish: ';

/** The report of a command that ran to its end. */
export function commandReport(command: string, printed: string, exitStatus: number): string {
  const status = exitStatus === 0 ? '' : `\nIts exit status was ${exitStatus}.`;
  return `${BEGINNING}${command}\n\n${textBlock('output', {}, printed)}${status}`;
}

/** The report of one that did not. */
export function failedCommandReport(command: string, error: string): string {
  return `${BEGINNING}${command}${FAILURE}${error}`;
}

/** The command of such a report, and its output without the last newline; null for any other text. */
export function commandIn(text: string): { readonly command: string; readonly printed: string } | null {
  if (!text.startsWith(BEGINNING)) return null;
  const found = OUTPUT.exec(text);
  const from = (found?.index ?? 0) + (found?.[0].length ?? 0);
  const end = text.lastIndexOf(`\n</${found?.[1]}>`);
  if (found && end >= from - 1)
    return { command: text.slice(BEGINNING.length, found.index), printed: text.slice(from, Math.max(from, end)) };
  const failure = text.indexOf(FAILURE);
  if (failure === -1) return null;
  return { command: text.slice(BEGINNING.length, failure), printed: text.slice(failure + FAILURE.length) };
}

/** A message as input that is sent as that message: in quotes if it would be read as a command or as a block. */
export function quotedInput(message: string): string {
  return /^\s*(?:[/!]|""")/.test(message) ? `"""\n${message}\n"""` : message;
}

/** A name that no other turn has, on any machine: 64 random bits. */
export function newUid(): string {
  return randomBytes(8).toString('base64url');
}

/** 64 bits as base64url; the last character has two bits to spare, which are 0. */
const NAME = /^[\w-]{10}[AEIMQUYcgkosw048]$/;

/** Whether a text has the form of a turn's name. */
export function isTurnName(text: unknown): text is string {
  return typeof text === 'string' && NAME.test(text);
}

/**
 * The name of the turn whose first message this is, the same on every machine: its `uid`, or 64 bits of a hash of when
 * it was said, by whom, and the parts that hi did not add.
 */
export function turnName({ uid, at, role, content }: NewMessage & { readonly at: string }): string {
  if (isTurnName(uid)) return uid;
  const said = JSON.stringify([at, role, spokenParts(content)], sortedKeys);
  return createHash('sha256').update(said).digest().subarray(0, 8).toString('base64url');
}

/** Programs that write JSON do not agree on the order of fields. */
function sortedKeys(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
