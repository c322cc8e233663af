import { createHash } from 'node:crypto';
import type { JsonObject } from './json.js';
import type { Message, StopReason, Usage } from './message.js';
import { isRefused, type ModelFacts, type ThinkingLevel, type WebMode } from './model.js';

declare const tokens: unique symbol;

/** A number of tokens, estimated or reported. The type keeps it apart from characters and bytes. */
export type Tokens = number & { readonly [tokens]: true };

/** Marks a number as a number of tokens. */
export function asTokens(count: number): Tokens {
  return count as Tokens;
}

/** What an image or a document counts, whatever its size (a fixed cost, never its base64). */
export const IMAGE_TOKENS = asTokens(1500);

/** The estimate for a text of that many characters: characters / 4, rounded up. 4000 characters are 1000 tokens. */
export function estimateTokens(characters: number): Tokens {
  return asTokens(Math.ceil(characters / 4));
}

/** Hints that help a vendor to cache the beginning of requests. */
export interface CacheHints {
  /** The same for every request of a conversation, and unique to it; null if the conversation has no id. */
  readonly key: string | null;
  /**
   * How long the request is to be kept, in milliseconds: the `life` of one of the vendor's terms, 0 for not at all.
   * Null leaves it to the server.
   */
  readonly life: number | null;
}

/** A tool as it is described to the model. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, an object. */
  readonly parameters: JsonObject;
}

/** The required form of an answer. */
export interface AnswerSchema {
  /** JSON Schema of an object, with every reference inside it. */
  readonly schema: JsonObject;
  /**
   * Whether the user asked for tools: if a server supports either tools or schemas, the schema is then sent as text.
   */
  readonly needsTools: boolean;
}

/** One request to a model, independent of the vendor. */
export interface ChatRequest {
  readonly model: string;
  /**
   * System text in blocks, the most stable first, so that a provider's prompt cache stays valid as long as possible. No
   * block is empty.
   */
  readonly system: readonly string[];
  /**
   * Oldest first; every tool call is followed by its result. The first message may be an answer, when a compaction kept
   * it: the adapter adds a user message before it where its vendor requires one. Two messages of one role may follow
   * each other (an interrupted turn, a note of a local command): the adapter joins them where its vendor requires
   * alternating roles.
   */
  readonly messages: readonly (Pick<Message, 'role' | 'content' | 'provider' | 'model' | 'origin'> &
    Partial<Pick<Message, 'at' | 'from'>>)[];
  readonly tools: readonly ToolSpec[];
  /** Whether the tools are there only because the server has them in its cache: the model may call none. */
  readonly tool_choice?: 'none';
  readonly thinking: ThinkingLevel | null;
  /** The required form of the answer; any text if absent. */
  readonly schema?: AnswerSchema;
  /** Whether the model may search the web; `off` if absent. */
  readonly web?: WebMode;
  /** The size of the window the request was measured for, in tokens. Ollama needs it in the request. */
  readonly context_window: number;
  /** The size of this request in tokens, as the compaction trigger measured it. */
  readonly estimated_tokens: number;
  /** The maximum length of the answer in tokens; null leaves it to the vendor. */
  readonly max_output_tokens: number | null;
  /** Set if it is hi's own, about which the user is not asked. */
  readonly isInternal?: true;
  readonly cache?: CacheHints;
  /** Further options of the user, by the vendor's own names. */
  readonly options?: JsonObject;
  /** Where to search the web from, as `user_location` of the options says. `fitRequest` takes it out of them. */
  readonly place?: JsonObject;
  /**
   * What the user adds to the request as it is, by `extra_body` and `extra_headers` of the options. `fitRequest` takes
   * it out of them.
   */
  readonly extra?: { readonly body: JsonObject; readonly headers: Readonly<Record<string, string>> };
  /** The bytes of the images and documents in `messages`, by SHA-256. */
  readonly attachments: ReadonlyMap<string, Uint8Array>;
  /** The known facts about the model at this server. */
  readonly facts?: ModelFacts;
}

/** A prompt for one text. */
export interface TextPrompt {
  readonly system: string;
  readonly user: string;
  /** The maximum length of the text in tokens. */
  readonly max_output_tokens: number;
}

/** The complete reply to a prompt. */
export interface WrittenText {
  readonly text: string;
  readonly stop_reason: StopReason;
  /** Null when the server reported none. */
  readonly usage: Usage | null;
}

/** A model for summaries, skill matching and compression: one prompt in, one text out, no tools, no state. */
export interface TextModel {
  readonly provider: string;
  readonly model: string;
  /** The address of its server, if it is not the vendor's own. */
  readonly api_base?: string;
  /** The name of its server; absent for that of the flat form. */
  readonly server?: string;
  /** Its window in tokens; may change as hi learns about the model. */
  readonly context_window: number;
  /** Whether its server is on this machine or the local network, where reading a prompt may take many minutes. */
  readonly isNear?: boolean;
  /** Asks the server about the model, if that is not known yet. Never fails. Absent if there is nothing to ask. */
  ask?(signal: AbortSignal): Promise<void>;
  /**
   * Rejects with a `HiError` when the model cannot answer, and with an abort error when `signal` aborts.
   * `onProgress` gets the number of characters that have arrived. The caller sets time limits by `signal`.
   */
  write(prompt: TextPrompt, onProgress: (characters: number) => void, signal: AbortSignal): Promise<WrittenText>;
}

/** Results of earlier calls by content hash. They outlive the process. */
export interface TextCache {
  /** The stored text; null when there is none or it cannot be read. */
  get(key: string): Promise<string | null>;
  /**
   * Stores a text, in a file before it first waits: its caller may hold a lock. A cache that cannot be written is not
   * an error.
   */
  put(key: string, text: string): Promise<void>;
}

/**
 * What a compaction records about a tool call: that it read or wrote the file named by an argument, or ran a command.
 */
export type ToolEffect = { readonly kind: 'read' | 'write'; readonly argument: string } | { readonly kind: 'command' };

/** The effects of tools by name. Nothing is recorded for tools that are not listed. */
export type ToolEffects = Readonly<Record<string, ToolEffect>>;

/** What the names of all tools of servers begin with. */
export const SERVER_TOOL_PREFIX = 'mcp__';

/** Names a tool as it is described: with another description it is another one. */
export function toolKey({ name, description, parameters }: ToolSpec): string {
  const hash = createHash('sha256').update(JSON.stringify({ description, parameters })).digest('hex');
  return `${name} ${hash.slice(0, 16)}`;
}

/** Whether the server is known to refuse the schema for the answer, which is then given in words. */
export function isSchemaRefused({ schema, facts }: Pick<ChatRequest, 'schema' | 'facts'>): boolean {
  if (schema === undefined) return false;
  return isRefused(facts, 'schema') || isRefused(facts, `schema ${schemaKey(schema)}`);
}

/** Names a schema. */
export const schemaKey = ({ schema }: AnswerSchema): string =>
  createHash('sha256').update(JSON.stringify(schema)).digest('hex').slice(0, 16);

/** The tools that are sent: without those that the server refused. */
export function takenTools({ tools, facts }: Pick<ChatRequest, 'tools' | 'facts'>): readonly ToolSpec[] {
  const isAny = Object.keys(facts?.takes ?? {}).some((name) => name.startsWith('tool '));
  return isAny ? tools.filter((tool) => !isRefused(facts, `tool ${toolKey(tool)}`)) : tools;
}

/** The share of the window at which a compaction is due by default: `compaction.trigger_ratio`. */
export const DEFAULT_TRIGGER_RATIO = 0.8;
