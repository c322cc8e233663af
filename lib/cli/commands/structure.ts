import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ErrorObject } from 'ajv';
import {
  isJsonObject,
  isTooDeep,
  type JsonObject,
  type JsonValue,
  MAX_LEVELS,
  wellFormedJson,
} from '../../chat/json.js';
import type { AnswerSchema } from '../../chat/request.js';
import { firstCharacters } from '../../chat/text.js';
import { HiError } from '../../errors.js';
import { readFileBytes } from '../../session/input.js';
import { type Check, compileSchema, doubledName } from './schema-check.js';

/** The required form of an answer: how to request it, and how to read it. */
export interface Structure {
  readonly asked: AnswerSchema;
  read(text: string): ReadAnswer;
}

/** How a schema is given on the command line. */
interface GivenSchema {
  /** A file, JSON, or a list of fields. */
  readonly text: string;
  /** Whether the answer is a list of what it describes. */
  readonly isList: boolean;
  readonly needsTools: boolean;
}

/** The structure for a schema. Throws a `HiError` of code `usage` for an invalid schema. */
export async function openStructure(
  { text, isList, needsTools }: GivenSchema,
  cwd: string,
  signal: AbortSignal,
): Promise<Structure> {
  const one = await readSchema(text, cwd, signal);
  // By itself first, so that an error names the places of what was given.
  const checkOne = compileSchema(one);
  const schema = isList ? listOf(one) : one;
  const check = isList ? compileSchema(schema) : checkOne;
  const object = asObjectSchema(schema, isList);
  return {
    asked: { schema: object.schema, needsTools },
    read: (answer) => readAnswer(answer, check, object),
  };
}

async function readSchema(text: string, cwd: string, signal: AbortSignal): Promise<JsonObject> {
  if (/^\s*(?:[[{"]|(?:true|false|null)\s*$)/.test(text)) return asSchema(text, 'The schema');
  if (!isFile(resolve(cwd, text))) return schemaOfFields(text);
  const bytes = await readFileBytes(text, { cwd, pipes: true, signal });
  return asSchema(bytes.toString('utf8').replace(/^\uFEFF/, ''), `'${text}'`);
}

/** Whether there is a file, or what a shell's `<(command)` prints. */
function isFile(path: string): boolean {
  try {
    const found = statSync(path);
    return found.isFile() || found.isFIFO();
  } catch {
    return false;
  }
}

function asSchema(text: string, what: string): JsonObject {
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HiError('usage', `${what} is not JSON: ${reason}.`, {
      hint: 'A schema is a JSON Schema, a file with one, or a list of fields: name, age int.',
      cause,
    });
  }
  if (value === true) return {};
  const doubled = doubledName(text);
  if (doubled !== null) throw new HiError('usage', `${what} has '${doubled}' twice in one object.`);
  if (!isJsonObject(value)) {
    const found = Array.isArray(value) ? 'a list' : value === false ? 'false, which nothing fits' : 'not an object';
    throw new HiError('usage', `${what} is not a JSON Schema: it is ${found}.`);
  }
  if (isTooDeep(value)) throw new HiError('usage', `${what} is nested deeper than ${MAX_LEVELS} levels.`);
  return value;
}

/** What a field's type is called, and what it is in JSON Schema. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['str', 'string'],
  ['string', 'string'],
  ['text', 'string'],
  ['int', 'integer'],
  ['integer', 'integer'],
  ['float', 'number'],
  ['number', 'number'],
  ['bool', 'boolean'],
  ['boolean', 'boolean'],
]);

const HINT =
  "Give a file, JSON, or fields between commas: 'name, age int, tags []'. Types: str, int, float, bool, and lists: [], int[]. Words after ':' describe a field.";

/**
 * The schema of an object with these fields, all of them required: `name, age int: in years, tags []`, between commas
 * or one a line. Throws a `HiError` of code `usage` for anything else.
 */
function schemaOfFields(text: string): JsonObject {
  const fields = text
    .split(text.includes('\n') ? '\n' : ',')
    .map((field) => field.trim())
    .filter((field) => field !== '')
    .map(fieldOf);
  const names = fields.map(([name]) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new HiError('usage', `The schema has the field '${twice}' twice.`);
  if (fields.length === 0) throw new HiError('usage', 'The schema is empty.', { hint: HINT });
  return {
    type: 'object',
    properties: Object.fromEntries(fields),
    required: names,
    additionalProperties: false,
  };
}

function fieldOf(field: string): readonly [string, JsonObject] {
  const colon = field.indexOf(':');
  const [name = '', type = 'str', ...more] = (colon < 0 ? field : field.slice(0, colon)).trim().split(/\s+/);
  const description = colon < 0 ? '' : field.slice(colon + 1).trim();
  if (more.length > 0 || !/^[\p{L}_][\p{L}\p{M}\p{N}_-]*$/u.test(name))
    throw new HiError('usage', `There is no file '${field}', and it is not a field of a schema either.`, {
      hint: HINT,
    });
  return [name, { ...typeOf(type, name), ...(description !== '' && { description }) }];
}

function typeOf(written: string, field: string): JsonObject {
  const inner = /^(?:\[(\w*)\]|(\w+)\[\])$/.exec(written);
  const named = inner === null ? written : inner[1] || inner[2] || 'str';
  const type = TYPES.get(named.toLowerCase());
  if (type === undefined)
    throw new HiError('usage', `Unknown type '${written}' of the field '${field}'.`, { hint: HINT });
  return inner === null ? { type } : { type: 'array', items: { type } };
}

/**
 * A schema in the form every vendor accepts: of an object. `name` is the property with the value, null if the value is
 * the object itself.
 */
interface ObjectSchema {
  readonly schema: JsonObject;
  readonly name: 'items' | 'value' | null;
}

/** The schema of a list of what the schema describes. */
function listOf(schema: JsonObject): JsonObject {
  const { $schema, $defs, definitions, ...rest } = schema;
  return {
    ...($schema !== undefined && { $schema }),
    ...moved({ $defs, definitions }, '#/items'),
    type: 'array',
    items: moved(rest, '#/items'),
  };
}

/** The schema itself if it plainly describes an object, or else that of an object with the value as a property. */
export function asObjectSchema(schema: JsonObject, isList: boolean): ObjectSchema {
  const { $schema: _, ...named } = schema;
  const isUnion = ['$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', 'if', 'not'].some((name) => name in schema);
  const isObject = schema.type === 'object' || (schema.type === undefined && isJsonObject(schema.properties));
  if (isObject && !isUnion) return { schema: { ...named, type: 'object' }, name: null };
  const name = isList ? 'items' : 'value';
  const { $defs, definitions, ...rest } = named;
  const root = `#/properties/${name}`;
  return {
    schema: {
      type: 'object',
      properties: { [name]: moved(rest, root) },
      required: [name],
      additionalProperties: false,
      ...moved({ $defs, definitions }, root),
    },
    name,
  };
}

/** The schema with references adjusted to the new position of the root. Definitions stay at the root. */
function moved(schema: JsonObject, root: string): JsonObject {
  const entries = Object.entries(schema).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, movedValue(value, name, root)]));
}

function movedValue(value: JsonValue | undefined, name: string, root: string): JsonValue {
  if (name === '$ref' && typeof value === 'string') return movedReference(value, root);
  // What stands there is data.
  if (name === 'enum' || name === 'const' || name === 'default' || name === 'examples') return value ?? null;
  if (Array.isArray(value)) return value.map((one) => movedValue(one, '', root));
  return isJsonObject(value) ? moved(value, root) : (value ?? null);
}

function movedReference(reference: string, root: string): string {
  if (reference === '#') return root;
  const isDefinition = /^#\/(?:\$defs|definitions)\//.test(reference);
  return reference.startsWith('#/') && !isDefinition ? `${root}${reference.slice(1)}` : reference;
}

/** An answer read by its schema: the value with its JSON, or a description of what is wrong. */
type ReadAnswer = { readonly data: JsonValue; readonly json: string } | { readonly wrong: string };

/** Reads an answer: JSON, in a code fence or among words too. Nulls for optional properties count as absent. */
function readAnswer(text: string, check: Check, { name }: Pick<ObjectSchema, 'name'>): ReadAnswer {
  if (text.trim() === '') return { wrong: 'it is empty' };
  const found = jsonIn(text);
  if (found === null) return { wrong: 'it is not JSON' };
  if (isTooDeep(found.value)) return { wrong: `it is nested deeper than ${MAX_LEVELS} levels` };
  const doubled = doubledName(found.json);
  if (doubled !== null) return { wrong: `it has '${doubled}' twice in one object` };
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

/**
 * The first JSON there is: the text itself, a code fence in it, or what stands between its first and its last bracket.
 */
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

/**
 * The value without misplaced nulls; null if there are none. Vendors that require every property send nulls for absent
 * ones.
 */
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
