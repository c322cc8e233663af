import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/chat/json.js';

/** A schema that users have, with a value that fits it and one that does not. */
export interface SchemaCase {
  readonly title: string;
  readonly schema: JsonObject;
  readonly fits: JsonValue;
  readonly wrong: JsonValue;
}

const text = { type: 'string' };
const integer = { type: 'integer' };
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  ...more,
});
const one = (title: string, schema: JsonObject, fits: JsonValue, wrong: JsonValue): SchemaCase => ({
  title,
  schema,
  fits,
  wrong,
});

const NODE = {
  type: 'object',
  properties: { name: text, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
};

/** Thirty schemas as people and generators write them. */
export const SCHEMAS: readonly SchemaCase[] = [
  one('an object', object({ name: text, age: integer }), { name: 'Ann', age: 3 }, { name: 'Ann', age: 'three' }),
  one('one that is closed', object({ a: text }, { additionalProperties: false }), { a: 'x' }, { a: 'x', b: 1 }),
  one(
    'optional properties',
    { type: 'object', properties: { a: text, b: integer }, required: ['a'] },
    { a: 'x' },
    { b: 1 },
  ),
  one('nothing but optional properties', { type: 'object', properties: { a: object({ b: text }) } }, {}, { a: 1 }),
  one(
    'objects in objects',
    object({ a: object({ b: object({ c: integer }) }) }),
    { a: { b: { c: 1 } } },
    { a: { b: {} } },
  ),
  one(
    'a list of objects',
    object({ list: { type: 'array', items: object({ n: integer }) } }),
    { list: [{ n: 1 }] },
    { list: [{}] },
  ),
  one('a list at the root', { type: 'array', items: integer }, [1, 2], ['1']),
  one('a string at the root', { type: 'string' }, 'yes', 1),
  one('a choice at the root', { enum: ['red', 'green'] }, 'red', 'blue'),
  one(
    'an enum of strings',
    object({ colour: { type: 'string', enum: ['red', 'green'] } }),
    { colour: 'red' },
    { colour: 'blue' },
  ),
  one('an enum of several kinds', object({ size: { enum: ['small', 3, null, true] } }), { size: null }, { size: 4 }),
  one(
    'an enum of objects',
    object({ at: { enum: [{ x: 1 }, { x: 2 }], type: 'object' } }),
    { at: { x: 2 } },
    { at: { x: 3 } },
  ),
  one(
    'a constant',
    object({ kind: { const: 'cat' }, name: text }),
    { kind: 'cat', name: 'Tom' },
    { kind: 'dog', name: 'Tom' },
  ),
  one('a type or null', object({ a: { type: ['string', 'null'] } }), { a: null }, { a: 1 }),
  one(
    'several types',
    object({ a: { type: ['object', 'array', 'string'], properties: { b: text }, items: text } }),
    { a: ['x'] },
    { a: 1 },
  ),
  one('anyOf', object({ a: { anyOf: [text, object({ b: integer })] } }), { a: { b: 1 } }, { a: {} }),
  one(
    'oneOf with a mark',
    object({
      shape: {
        oneOf: [object({ kind: { const: 'dot' } }), object({ kind: { const: 'line' }, length: { type: 'number' } })],
      },
    }),
    { shape: { kind: 'line', length: 1.5 } },
    { shape: { kind: 'line' } },
  ),
  one('a union at the root', { anyOf: [object({ a: text }), object({ b: integer })] }, { b: 1 }, { c: 1 }),
  one(
    'allOf of one reference',
    object({ who: { allOf: [{ $ref: '#/$defs/who' }], description: 'Who?' } }, { $defs: { who: object({ n: text }) } }),
    { who: { n: 'Ann' } },
    { who: {} },
  ),
  one(
    'allOf of objects',
    object({ a: { allOf: [object({ x: integer }), object({ y: integer })] } }),
    { a: { x: 1, y: 2 } },
    { a: { x: 1 } },
  ),
  one(
    'references to $defs',
    object(
      { from: { $ref: '#/$defs/place' }, to: { $ref: '#/$defs/place' } },
      { $defs: { place: object({ city: text }) } },
    ),
    { from: { city: 'Bern' }, to: { city: 'Rom' } },
    { from: { city: 'Bern' } },
  ),
  one(
    'references to definitions, draft 7',
    object(
      { a: { $ref: '#/definitions/a' } },
      { $schema: 'http://json-schema.org/draft-07/schema#', definitions: { a: integer } },
    ),
    { a: 1 },
    { a: '1' },
  ),
  one(
    'a schema that refers to itself',
    { $ref: '#/$defs/node', $defs: { node: NODE } },
    { name: 'a', children: [{ name: 'b' }] },
    { name: 'a', children: [{ name: 1 }] },
  ),
  one(
    'a root that refers to itself',
    { type: 'object', properties: { next: { $ref: '#' } } },
    { next: { next: {} } },
    { next: 1 },
  ),
  one(
    'lengths and limits',
    object({
      a: { type: 'string', minLength: 2, maxLength: 3, pattern: '^x' },
      n: { type: 'number', minimum: 1, maximum: 9, multipleOf: 0.5 },
    }),
    { a: 'xy', n: 1.5 },
    { a: 'x', n: 10 },
  ),
  one(
    'lists with limits',
    object({ a: { type: 'array', items: integer, minItems: 2, maxItems: 3, uniqueItems: true } }),
    { a: [1, 2] },
    { a: [1, 1] },
  ),
  one(
    'formats',
    object({ on: { type: 'string', format: 'date' }, at: { type: 'string', format: 'uri' } }),
    { on: '2026-11-23', at: 'https://example.org/' },
    { on: 'tomorrow', at: 'https://example.org/' },
  ),
  one(
    'a map',
    object({ counts: { type: 'object', additionalProperties: integer } }),
    { counts: { a: 1 } },
    { counts: { a: 'x' } },
  ),
  one(
    'a tuple',
    object({ pair: { type: 'array', prefixItems: [text, integer], items: false, minItems: 2 } }),
    { pair: ['a', 1] },
    { pair: ['a', 1, 2] },
  ),
  one(
    'conditions',
    object(
      { kind: text },
      {
        if: { properties: { kind: { const: 'b' } } },
        else: { required: ['a'] },
        not: { required: ['z'] },
        dependentRequired: { b: ['c'] },
      },
    ),
    { kind: 'a', a: 1 },
    { kind: 'a' },
  ),
];

/** What is wrong with a schema by what a vendor documents of its structured output; nothing when it takes it. */
export function unsupported(vendor: 'openai' | 'anthropic' | 'gemini', schema: JsonValue | undefined): string[] {
  if (!isJsonObject(schema)) return [`${JSON.stringify(schema)} is no schema`];
  const { known, closed } = DOCUMENTED[vendor];
  const strange = Object.keys(schema).filter((name) => !known.includes(name));
  const isObject = schema.type === 'object';
  const names = Object.keys(isJsonObject(schema.properties) ? schema.properties : {});
  const required = Array.isArray(schema.required) ? schema.required : [];
  return [
    ...strange.map((name) => `'${name}' is not supported`),
    ...(isObject && closed && schema.additionalProperties !== false ? ['an object is open'] : []),
    ...(isObject && vendor === 'openai' && names.join() !== required.join() ? ['not all are required'] : []),
    ...('$ref' in schema && Object.keys(schema).some((name) => !name.startsWith('$')) ? ['$ref has company'] : []),
    ...(['type', 'anyOf', '$ref'].some((name) => name in schema) ? [] : ['a schema has no type']),
    ...inner(schema).flatMap((part) => unsupported(vendor, part)),
  ];
}

const COMMON = [
  'type',
  'title',
  'description',
  'enum',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'anyOf',
  '$ref',
  '$defs',
  'format',
];
const LIMITS = ['minimum', 'maximum', 'minItems', 'maxItems'];
const DOCUMENTED = {
  openai: {
    known: [...COMMON, ...LIMITS, 'pattern', 'multipleOf', 'exclusiveMaximum', 'exclusiveMinimum'],
    closed: true,
  },
  anthropic: { known: COMMON, closed: true },
  gemini: { known: [...COMMON, ...LIMITS, 'prefixItems'], closed: false },
};

function inner({
  properties,
  $defs,
  items,
  prefixItems,
  anyOf,
  additionalProperties,
}: JsonObject): readonly (JsonValue | undefined)[] {
  const named = [properties, $defs].flatMap((part) => (isJsonObject(part) ? Object.values(part) : []));
  const listed = [prefixItems, anyOf].flatMap((part) => (Array.isArray(part) ? part : []));
  return [...named, ...listed, ...[items, additionalProperties].filter(isJsonObject)];
}

/** The value as a vendor gives it that requires every property: null for each that is absent. */
export function filled(
  value: JsonValue,
  schema: JsonValue | undefined,
  root: JsonValue | undefined = schema,
): JsonValue {
  if (!isJsonObject(schema)) return value;
  const name = /^#\/\$defs\/(.*)/.exec(String(schema.$ref))?.[1];
  if (name !== undefined && isJsonObject(root) && isJsonObject(root.$defs))
    return filled(value, root.$defs[name], root);
  if (schema.$ref === '#') return filled(value, root, root);
  if (Array.isArray(schema.anyOf)) {
    const fitting = schema.anyOf.filter(isJsonObject).find((part) => part.type !== 'null' && isLike(value, part));
    return filled(value, fitting, root);
  }
  if (Array.isArray(value)) return value.map((part) => filled(part, schema.items, root));
  if (!isJsonObject(value) || !isJsonObject(schema.properties)) return value;
  const { properties } = schema;
  return Object.fromEntries(
    Object.keys(properties).map((key) => [key, filled(value[key] ?? null, properties[key], root)]),
  );
}

/** Whether a part of a union is the one for the value. */
function isLike(value: JsonValue, { type, properties, $ref }: JsonObject): boolean {
  if ($ref !== undefined) return isJsonObject(value);
  if (!isJsonObject(value)) return type === (Array.isArray(value) ? 'array' : typeof value);
  return type === 'object' && isJsonObject(properties) && Object.keys(value).every((name) => name in properties);
}
