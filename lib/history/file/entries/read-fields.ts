import { isJsonObject, isTooDeep, type JsonObject } from '../../../chat/json.js';

/** Reads a field from its stored value, undefined when it is missing. */
export type FieldReader<Value> = (stored: unknown, whole: JsonObject) => Value;

/** The reader of every field of a type. */
export type JsonFields<Type> = { readonly [Name in keyof Type]-?: FieldReader<Type[Name]> };

/** A stored object as its type: the object itself if all fields are valid, else a corrected copy. */
export function withFields<Type>(stored: JsonObject, fields: JsonFields<Type>): Type {
  let copy: Record<string, unknown> | null = null;
  for (const name in fields) {
    const before = stored[name];
    const after = fields[name](before, stored);
    if (after === before) continue;
    copy ??= { ...stored };
    if (after === undefined) delete copy[name];
    else copy[name] = after;
  }
  // `fields` covers all fields of the type.
  return (copy ?? stored) as Type;
}

/** True if `shown` contains every stored field unchanged. It may have more fields. */
export function holdsAll(stored: JsonObject, shown: object): boolean {
  return shown === stored || Object.entries(stored).every(([name, value]) => Reflect.get(shown, name) === value);
}

/** A string, or `other`. */
export function text<Other>(other: Other): FieldReader<string | Other> {
  return (stored) => (typeof stored === 'string' ? stored : other);
}

/** One of these words, or `other`. */
export function word<const Word extends string, const Other>(
  words: readonly Word[],
  other: Other,
): FieldReader<Word | Other> {
  const known = new Map<unknown, Word>(words.map((each) => [each, each]));
  return (stored) => known.get(stored) ?? other;
}

/** A whole number from 0 up to the limit, or `other`. */
export function count<Other>(other: Other): FieldReader<number | Other> {
  return (stored) => (isCount(stored) ? stored : other);
}

/** An object that is not nested too deeply, or `other`. */
export function json<Other>(other: Other): FieldReader<JsonObject | Other> {
  return (stored) => (isJsonObject(stored) && !isTooDeep(stored) ? stored : other);
}

/** The valid elements of a list: the list itself if all are valid. */
export function list<Item>(stored: unknown, is: (item: unknown) => item is Item): readonly Item[] | undefined {
  if (!Array.isArray(stored)) return undefined;
  return stored.every(is) ? stored : stored.filter(is);
}

export const isText = (stored: unknown): stored is string => typeof stored === 'string';

/** True for a whole number with room for larger ones. */
export const isCount = (stored: unknown): stored is number =>
  typeof stored === 'number' && Number.isInteger(stored) && stored >= 0 && stored <= COUNT_LIMIT;

/** No conversation has this many messages, and larger numbers soon lose precision. */
const COUNT_LIMIT = 2 ** 52;
