import type { ErrorObject } from 'ajv';
import { isJsonObject, type JsonValue, wellFormedJson } from '../../chat/json.js';
import { isTooDeep, MAX_LEVELS } from '../../chat/nesting.js';
import { firstCharacters } from '../../chat/text/cut-text.js';
import type { Check } from './compile-schema.js';
import type { ObjectSchema } from './object-schema.js';

/** An answer read by its schema: the value with its JSON, or a description of what is wrong. */
export type ReadAnswer = { readonly data: JsonValue; readonly json: string } | { readonly wrong: string };

/** Reads an answer: JSON, in a code fence or among words too. Nulls for optional properties count as absent. */
export function readAnswer(text: string, check: Check, { name }: Pick<ObjectSchema, 'name'>): ReadAnswer {
  if (text.trim() === '') return { wrong: 'it is empty' };
  const found = jsonIn(text);
  if (found === null) return { wrong: 'it is not JSON' };
  if (isTooDeep(found.value)) return { wrong: `it is nested deeper than ${MAX_LEVELS} levels` };
  const inner = name !== null && isJsonObject(found.value) ? found.value[name] : undefined;
  const unwrapped = inner !== undefined && isJsonObject(found.value) && Object.keys(found.value).length === 1;
  const value = unwrapped && inner !== undefined ? inner : found.value;
  const errors = check(value);
  // The model's own text, whose numbers may have more digits than a program keeps.
  if (errors.length === 0) return { data: value, json: unwrapped ? JSON.stringify(value) : wellFormedJson(found.json) };
  const without = withoutNulls(value, errors);
  if (without !== null && check(without).length === 0) return { data: without, json: JSON.stringify(without) };
  return { wrong: inWords(errors, value) };
}

/** The first JSON there is: the text itself, a code fence in it, or what stands between its first and its last bracket. */
function jsonIn(text: string): { readonly json: string; readonly value: JsonValue } | null {
  const start = text.search(/[[{]/);
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'));
  for (const part of [text, fencedIn(text), start < 0 ? '' : text.slice(start, end + 1)]) {
    const json = part.replace(/^\uFEFF/, '').trim();
    try {
      return { json, value: JSON.parse(json) };
    } catch {}
  }
  return null;
}

/** What the first code fence has in it. */
function fencedIn(text: string): string {
  const lines = text.split('\n');
  const isFence = (line: string) => /^[ \t]*(?:```|~~~)/.test(line);
  const from = lines.findIndex(isFence) + 1;
  const length = lines.slice(from).findIndex(isFence);
  return from === 0 || length < 0 ? '' : lines.slice(from, from + length).join('\n');
}

/** The value without misplaced nulls; null if there are none. Vendors that require every property send nulls for absent ones. */
function withoutNulls(value: JsonValue, errors: readonly ErrorObject[]): JsonValue | null {
  const paths = new Set(errors.map(({ instancePath }) => instancePath));
  let isChanged = false;
  const copy = (part: JsonValue, path: string): JsonValue => {
    if (Array.isArray(part)) return part.map((one, at) => copy(one, `${path}/${at}`));
    if (!isJsonObject(part)) return part;
    const kept = Object.entries(part).flatMap(([name, inner = null]): [string, JsonValue][] => {
      const place = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const isWrong = inner === null && paths.has(place);
      isChanged ||= isWrong;
      return isWrong ? [] : [[name, copy(inner, place)]];
    });
    return Object.fromEntries(kept);
  };
  const result = copy(value, '');
  return isChanged ? result : null;
}

/** How many errors are named. */
const MOST_ERRORS = 5;

/** The errors as sentences for the user and the model. */
function inWords(errors: readonly ErrorObject[], value: JsonValue): string {
  const sentences = [...new Set(errors.map((error) => sentence(error, value)))];
  const more = sentences.length > MOST_ERRORS ? ` (and ${sentences.length - MOST_ERRORS} more)` : '';
  return `${sentences.slice(0, MOST_ERRORS).join('; ')}${more}`;
}

function sentence({ instancePath, keyword, params, message = 'is wrong' }: ErrorObject, value: JsonValue): string {
  const where = instancePath === '' ? 'it' : `'${instancePath.slice(1).replaceAll('/', '.')}'`;
  if (keyword === 'required') return `${where} has no '${params.missingProperty}'`;
  if (keyword === 'additionalProperties') return `${where} has '${params.additionalProperty}', which is not known`;
  const allowed = keyword === 'enum' ? `: ${firstCharacters(JSON.stringify(params.allowedValues), 200)}` : '';
  const got = firstCharacters(JSON.stringify(valueAt(value, instancePath)) ?? 'nothing', 100);
  return `${where} ${message}${allowed}, not ${got}`;
}

function valueAt(value: JsonValue, path: string): JsonValue | undefined {
  const names = path.split('/').slice(1);
  return names.reduce<JsonValue | undefined>((at, name) => {
    if (Array.isArray(at)) return at[Number(name)];
    return isJsonObject(at) ? at[name.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  }, value);
}
