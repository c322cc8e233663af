import type { JsonObject } from './json.js';
import type { Message } from './message.js';

/** How hard the model should think; each adapter maps it to its vendor's own setting. Null leaves it to the vendor. */
export type ThinkingLevel = 'off' | 'low' | 'medium' | 'high';

/** A tool as the model is told of it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, an object. */
  readonly parameters: JsonObject;
}

/** One request to a model, in nobody's dialect. */
export interface ChatRequest {
  readonly model: string;
  /** System text in blocks, the most stable first, so that a provider's prompt cache holds as long as possible. Never empty strings. */
  readonly system: readonly string[];
  /**
   * Oldest first; every tool call is followed by its result. An answer may be the first when a compaction kept it: the adapter puts words before it where its vendor insists. Two messages of one role may follow each other
   * (an interrupted turn, a note of a local command): the adapter joins them where its vendor insists on turns.
   */
  readonly messages: readonly Pick<Message, 'role' | 'content' | 'provider' | 'model'>[];
  readonly tools: readonly ToolSpec[];
  readonly thinking: ThinkingLevel | null;
  /** The size of the window the request was measured for, in tokens (Ollama must be told). */
  readonly context_window: number;
  /** The size of this request as the trigger measured it, in tokens. */
  readonly estimated_tokens: number;
  /** The most tokens the answer may have; null leaves it to the vendor. */
  readonly max_output_tokens: number | null;
  /** The bytes of the images and documents in `messages`, by SHA-256. */
  readonly attachments: ReadonlyMap<string, Uint8Array>;
}
