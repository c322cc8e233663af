import type { JsonObject } from './json.js';
import type { Message } from './message.js';
import type { ModelFacts } from './model/model-facts.js';
import type { ThinkingLevel } from './model/thinking-level.js';
import type { WebMode } from './model/web-mode.js';

/** Hints that help a vendor to cache the beginning of requests. */
export interface CacheHints {
  /** The same for every request of a conversation, and unique to it; null if the conversation has no id. */
  readonly key: string | null;
  /** Whether the user pauses so long between questions that a cache of a few minutes expires. */
  readonly isSlow: boolean;
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
  /** Whether the user asked for tools: if a server supports either tools or schemas, the schema is then sent as text. */
  readonly needsTools: boolean;
}

/** One request to a model, independent of the vendor. */
export interface ChatRequest {
  readonly model: string;
  /** System text in blocks, the most stable first, so that a provider's prompt cache stays valid as long as possible. No block is empty. */
  readonly system: readonly string[];
  /**
   * Oldest first; every tool call is followed by its result. The first message may be an answer, when a compaction kept it: the adapter adds a user
   * message before it where its vendor requires one. Two messages of one role may follow each other (an interrupted turn, a note of a local command):
   * the adapter joins them where its vendor requires alternating roles.
   */
  readonly messages: readonly (Pick<Message, 'role' | 'content' | 'provider' | 'model' | 'origin'> &
    Partial<Pick<Message, 'at'>>)[];
  readonly tools: readonly ToolSpec[];
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
  readonly cache?: CacheHints;
  /** Further options of the user, by the vendor's own names. */
  readonly options?: JsonObject;
  /** What the user adds to the request as it is, by `extra_body` and `extra_headers` of the options. `fitRequest` takes it out of them. */
  readonly extra?: { readonly body: JsonObject; readonly headers: Readonly<Record<string, string>> };
  /** The bytes of the images and documents in `messages`, by SHA-256. */
  readonly attachments: ReadonlyMap<string, Uint8Array>;
  /** The known facts about the model at this server. */
  readonly facts?: ModelFacts;
}
