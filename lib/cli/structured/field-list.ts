import type { JsonObject } from '../../chat/json.js';
import { HiError } from '../../errors.js';

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
 * The schema of an object with these fields, all of them required: `name, age int: in years, tags []`, between commas or one a line. Throws a `HiError` of code
 * `usage` for anything else.
 */
export function schemaOfFields(text: string): JsonObject {
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
