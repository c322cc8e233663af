import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';

/** A schema in the form every vendor accepts: of an object. `name` is the property with the value, null if the value is the object itself. */
export interface ObjectSchema {
  readonly schema: JsonObject;
  readonly name: 'items' | 'value' | null;
}

/** The schema of a list of what the schema describes. */
export function listOf(schema: JsonObject): JsonObject {
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
