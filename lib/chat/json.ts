/** A JSON value. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** True for a plain object, not for null or an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses a JSON object; null when the text is anything else. */
export function parseObject(text: string): JsonObject | null {
  try {
    const value: JsonValue = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/**
 * A value as JSON for other programs, with U+FFFD in place of lone surrogates: many JSON parsers refuse their escapes.
 */
export function toJson(value: unknown, indent = 0): string {
  return wellFormedJson(JSON.stringify(value, null, indent));
}

/** A JSON text with U+FFFD in place of the escapes of lone surrogates. */
export function wellFormedJson(text: string): string {
  if (!SURROGATE.test(text)) return text;
  return text.replace(ESCAPED, (escaped, lone?: string) => (lone === undefined ? escaped : '\uFFFD'));
}

/** Matches text that may be the escape of a surrogate. */
const SURROGATE = /\\u[dD][89a-fA-F]/;

/** An escaped backslash, which may precede a literal `ud800`; a pair of surrogates; or a lone one. */
const ESCAPED = /\\\\|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(\\u[dD][89a-fA-F]..)/g;

/** JSON Schemas for values that several settings share. */
export const TEXT = { type: 'string', minLength: 1 };
export const COUNT = { type: 'integer', minimum: 1 };

/**
 * The maximum nesting of JSON from outside. Vendors accept little more, and recursive code needs stack for every level.
 */
export const MAX_LEVELS = 100;

/** Replaces a value that is nested too deeply. */
export const TOO_DEEP = `(nested deeper than ${MAX_LEVELS} levels)`;

/** True when a value has more than `levels` levels of arrays and objects. Uses no more stack than that. */
export function isTooDeep(value: unknown, levels = MAX_LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  // Every start calls this for every entry that it loads, so it allocates neither lists nor closures.
  for (const name in value) {
    const inner: unknown = Reflect.get(value, name);
    if (typeof inner === 'object' && isTooDeep(inner, levels - 1)) return true;
  }
  return false;
}

/** A value as JSON; `TOO_DEEP`, which is not JSON, for one whose nesting would overflow the stack. */
export function jsonText(value: unknown): string {
  return isTooDeep(value) ? TOO_DEEP : (JSON.stringify(value) ?? '');
}
