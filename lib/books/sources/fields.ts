import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';

/** A text field; empty when it is absent or something else. */
export const textIn = (object: JsonObject, name: string): string => {
  const value = object[name];
  return typeof value === 'string' ? value : '';
};

/** An object field; an empty one when it is absent or something else. */
export const objectIn = (object: JsonObject, name: string): JsonObject => {
  const value = object[name];
  return isJsonObject(value) ? value : {};
};

/** A list field; an empty one when it is absent or something else. */
export const listIn = (object: JsonObject, name: string): readonly JsonValue[] => {
  const value = object[name];
  return isList(value) ? value : [];
};

/** The objects in a list field. */
export const objectsOf = (object: JsonObject, name: string): readonly JsonObject[] =>
  listIn(object, name).filter(isJsonObject);

const isList = (value: JsonValue | undefined): value is readonly JsonValue[] => Array.isArray(value);

/** A time as the history has it: from a text, or from seconds or milliseconds since 1970; empty for anything else. */
export function timeOf(value: JsonValue | undefined): string {
  const time =
    typeof value === 'string' && value.trim() !== ''
      ? new Date(value)
      : typeof value === 'number' && value > 0
        ? new Date(Math.round(value < 1e11 ? value * 1000 : value))
        : null;
  if (time === null || Number.isNaN(time.getTime())) return '';
  const text = time.toISOString();
  return /^\d{4}-/.test(text) ? text : '';
}
