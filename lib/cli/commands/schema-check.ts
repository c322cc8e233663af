import { createContext, runInContext } from 'node:vm';
import ajv, { type ErrorObject, type Options } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';
import { HiError } from '../../errors.js';

/**
 * Returns the errors of a value; none if it fits. Throws a `HiError` of code `malformed` when a pattern of the schema
 * takes too long.
 */
export type Check = (value: JsonValue) => readonly ErrorObject[];

type Draft = typeof ajv.Ajv | typeof Ajv2019 | typeof Ajv2020;

const OPTIONS: Options = { allErrors: true, strict: false, logger: false };

/** Compiles a check for a JSON Schema. Throws a `HiError` of code `usage` if it is not a valid one. */
export function compileSchema(schema: JsonObject): Check {
  const loop = endlessReference(schema);
  if (loop !== null)
    throw new HiError('usage', `The schema refers to itself without end: '${loop}'.`, {
      hint: 'A $ref to what it stands in needs a property or an item between the two.',
    });
  const { $schema, ...rules } = schema;
  const failures: string[] = [];
  for (const Draft of draftsOf($schema)) {
    try {
      const compiler = new Draft(OPTIONS);
      ajvFormats.default(compiler);
      const validate = compiler.compile(rules);
      return (value) => inTime(() => (validate(value) ? [] : [...(validate.errors ?? [])]));
    } catch (thrown) {
      failures.push(thrown instanceof Error ? thrown.message : String(thrown));
    }
  }
  const reason = failures[0]?.replace(/^schema is invalid: data/, 'at ') ?? `'${String($schema)}' is not known`;
  throw new HiError('usage', `The schema is not a valid JSON Schema: ${reason}.`, {
    hint: 'hi supports JSON Schema 6, 7, 2019-09 and 2020-12; every $ref must lead to a place in the schema.',
  });
}

/** The drafts to try, in order: where none is named, the newest, then the one before the words for lists changed. */
function draftsOf($schema: JsonValue | undefined): readonly Draft[] {
  if ($schema === undefined) return [Ajv2020, ajv.Ajv];
  const named = String($schema);
  if (/draft-0[67]\b/.test(named)) return [ajv.Ajv];
  if (/2019-09/.test(named)) return [Ajv2019];
  return /2020-12/.test(named) ? [Ajv2020] : [];
}

/**
 * How long a check may take, in milliseconds: a pattern that backtracks takes years, and no signal reaches the program
 * meanwhile.
 */
const LONGEST_CHECK = 1000;

/** Only a context of its own ends a pattern while that runs. */
function inTime<Value>(work: () => Value): Value {
  try {
    return runInContext('work()', createContext({ work }), { timeout: LONGEST_CHECK });
  } catch (thrown) {
    if (!isTimeout(thrown)) throw thrown;
    throw new HiError('malformed', 'The answer cannot be checked: a pattern of the schema takes too long on it.', {
      hint: 'Write the pattern without a repetition inside another one, such as (a+)+.',
      cause: thrown,
    });
  }
}

// The error is one of the other context.
const isTimeout = (thrown: unknown): boolean =>
  typeof thrown === 'object' && thrown !== null && 'code' in thrown && thrown.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';

/** The keywords whose schemas apply to the same value as the one they stand in, and those that hold data. */
const SAME_VALUE = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'];
const DATA: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples']);

/**
 * A reference of the schema that leads back to what it stands in, without a property or an item between; null for none.
 */
function endlessReference(root: JsonObject): string | null {
  const states = new Map<JsonObject, 'open' | 'done'>();
  const follow = (schema: JsonValue | undefined, by: string): string | null => {
    if (!isJsonObject(schema) || states.get(schema) === 'done') return null;
    if (states.get(schema) === 'open') return by;
    states.set(schema, 'open');
    const found = sameValue(schema, root).reduce<string | null>(
      (loop, [next, ref]) => loop ?? follow(next, ref ?? by),
      null,
    );
    states.set(schema, 'done');
    return found;
  };
  const visit = (value: JsonValue | undefined): string | null => {
    if (Array.isArray(value)) return firstOf(value, visit);
    if (!isJsonObject(value)) return null;
    const parts = Object.entries(value).flatMap(([name, part]) => (DATA.has(name) ? [] : [part]));
    return follow(value, '#') ?? firstOf(parts, visit);
  };
  return visit(root);
}

function firstOf<Value>(values: readonly Value[], find: (value: Value) => string | null): string | null {
  for (const value of values) {
    const found = find(value);
    if (found !== null) return found;
  }
  return null;
}

/** The schemas that apply to the same value, each with the reference that leads to it, if one does. */
function sameValue(schema: JsonObject, root: JsonObject): readonly (readonly [JsonValue | undefined, string | null])[] {
  const inside = SAME_VALUE.flatMap((name) => schema[name] ?? []).map((one) => [one, null] as const);
  const { $ref } = schema;
  return typeof $ref === 'string' ? [...inside, [atReference($ref, root), $ref]] : inside;
}

/** What a reference within the schema leads to. */
function atReference(reference: string, root: JsonObject): JsonValue | undefined {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  const names = reference
    .slice(2)
    .split('/')
    .map((name) => decoded(name).replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.reduce<JsonValue | undefined>((at, name) => {
    if (Array.isArray(at)) return at[Number(name)];
    return isJsonObject(at) ? at[name] : undefined;
  }, root);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A name that an object of a JSON text has twice: readers disagree about which of its values counts. Null for none. */
export function doubledName(json: string): string | null {
  const open: (Set<string> | null)[] = [];
  let isName = false;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at] ?? '';
    if (character === '"') {
      const end = endOfString(json, at);
      const names = open.at(-1);
      if (isName && names) {
        const name: string = JSON.parse(json.slice(at, end));
        if (names.has(name)) return name;
        names.add(name);
      }
      isName = false;
      at = end - 1;
    } else if (character === '{' || character === '[') {
      open.push(character === '{' ? new Set() : null);
      isName = character === '{';
    } else if (character === '}' || character === ']') open.pop();
    else if (character === ',') isName = open.at(-1) instanceof Set;
  }
  return null;
}

/** Where the string that begins there ends, behind its quote. */
function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}
