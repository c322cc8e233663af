import type { JsonObject } from '../../chat/json.js';

/** A tool as its server describes it, made harmless: what the model reads of it and what the user is shown. */
export interface ToolDefinition {
  /** The server's own name for it. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, with every reference inside. */
  readonly parameters: JsonObject;
  /** Names the definition as it came (SHA-256): any other one is another tool. */
  readonly hash: string;
  /** What the server claims of the tool, which nobody checked. */
  readonly claimsReadOnly: boolean;
}

/** A prompt of a server, which the user calls by name. */
export interface PromptDefinition {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly required: boolean }[];
}

/** Something that can be read from a server; of a template `uri` has places in braces. */
export interface ResourceDefinition {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
}

/** What a server offers, as it was last asked. */
export interface Offer {
  readonly tools: readonly ToolDefinition[];
  readonly prompts: readonly PromptDefinition[];
  readonly resources: readonly ResourceDefinition[];
  readonly templates: readonly ResourceDefinition[];
  /** What the server wants every request to say; empty for nothing. */
  readonly instructions: string;
  /** What was left out, in sentences for the user. */
  readonly problems: readonly string[];
  /** What makes the next connection faster, as the SDK wants it back. */
  readonly prior: JsonObject | null;
  /** Until when the list holds, in milliseconds since 1970; null where the server does not say. */
  readonly expires: number | null;
}
