import type { JsonObject } from '../../chat/json.js';

/** A tool as described by its server, sanitised for the model and the user. */
export interface ToolDefinition {
  /** The server's own name for it. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, with every reference inside. */
  readonly parameters: JsonObject;
  /** The SHA-256 of the original definition. A different hash means a different tool. */
  readonly hash: string;
  /** The server's claim about the tool, unchecked. */
  readonly claimsReadOnly: boolean;
}

/** A prompt of a server, which the user calls by name. */
export interface PromptDefinition {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly required: boolean }[];
}

/** Something that can be read from a server. The `uri` of a template has placeholders in braces. */
export interface ResourceDefinition {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
}

/** What a server offered when last asked. */
export interface Offer {
  readonly tools: readonly ToolDefinition[];
  readonly prompts: readonly PromptDefinition[];
  readonly resources: readonly ResourceDefinition[];
  readonly templates: readonly ResourceDefinition[];
  /** Instructions that the server wants in every request; empty for none. */
  readonly instructions: string;
  /** What was left out, as sentences for the user. */
  readonly problems: readonly string[];
  /** Data of the SDK that speeds up the next connection. */
  readonly prior: JsonObject | null;
  /** When the list expires, in milliseconds since 1970; null if the server does not say. */
  readonly expires: number | null;
}
