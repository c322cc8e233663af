import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';

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
