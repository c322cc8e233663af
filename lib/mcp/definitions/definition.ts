import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';
import type { ServerEntry } from '../base/server-entry.js';

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

/** SHA-256 over the canonical JSON of a definition, 64 hexadecimal digits. */
export function definitionHash(definition: JsonObject): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(definition)))
    .digest('hex');
}

/** The same value with the keys of every object in order. */
function sorted(value: JsonValue | undefined): JsonValue {
  if (value === undefined || typeof value !== 'object' || value === null) return value ?? null;
  if (!isJsonObject(value)) return value.map(sorted);
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}

/** What is wrong with the names in `tools.only` and `tools.not`, in sentences: a misspelt one in `not` leaves in what the user wanted out. */
export function unknownTools(
  { only, not }: Pick<ServerEntry, 'only' | 'not'>,
  { tools }: Pick<Offer, 'tools'>,
): readonly string[] {
  const unknown = (key: string, names: readonly string[]): readonly string[] =>
    names
      .filter((name) => !tools.some((tool) => tool.name === name))
      .map((name) => `It has no tool '${name}', which tools.${key} names.`);
  return [...unknown('only', only ?? []), ...unknown('not', not)];
}
