/** A value as JSON knows it. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** An object as JSON knows it. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** True for a plain object, not for null or an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The JSON object in a text, null when there is none. */
export function parseObject(text: string): JsonObject | null {
  try {
    const value: JsonValue = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
