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
