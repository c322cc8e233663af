import type { JsonObject } from './json.js';
import type { Message } from './message.js';
import type { ModelFacts } from './model/model-facts.js';
import type { ThinkingLevel } from './model/thinking-level.js';
import type { WebMode } from './model/web-mode.js';

/** What helps a vendor to read the beginning of a request from its cache. */
export interface CacheHints {
  /** The same for every request of a conversation, and for no other; null when it has no name. */
  readonly key: string | null;
  /** Whether the user takes so long between two questions that a cache of a few minutes is gone. */
  readonly isSlow: boolean;
}

/** A tool as it is described to the model. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, an object. */
  readonly parameters: JsonObject;
}

/** What an answer must be. */
export interface AnswerSchema {
  /** JSON Schema of an object, with every reference inside it. */
  readonly schema: JsonObject;
  /** Whether the tools were asked for: where a server has either tools or schemas, the schema is then told in words. */
  readonly needsTools: boolean;
}

/** One request to a model, in no vendor's dialect. */
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
  /** What the answer must be; any text when absent. */
  readonly schema?: AnswerSchema;
  /** Whether the model may search the web; absent is `off`. */
  readonly web?: WebMode;
  /** The size of the window the request was measured for, in tokens. Ollama needs it in the request. */
  readonly context_window: number;
  /** The size of this request in tokens, as the compaction trigger measured it. */
  readonly estimated_tokens: number;
  /** The maximum length of the answer in tokens; null leaves it to the vendor. */
  readonly max_output_tokens: number | null;
  readonly cache?: CacheHints;
  /** What else the user wants sent, by the vendor's own names; nothing when absent. */
  readonly options?: JsonObject;
  /** The bytes of the images and documents in `messages`, by SHA-256. */
  readonly attachments: ReadonlyMap<string, Uint8Array>;
  /** What is known of the model at this server; nothing when absent. */
  readonly facts?: ModelFacts;
}
