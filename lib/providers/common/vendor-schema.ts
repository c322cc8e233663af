import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';
import type { ChatRequest } from '../../chat/request.js';

/** A request that an adapter sends. */
export interface SentRequest<Format> extends ChatRequest {
  /** Its schema in the vendor's form; absent if there is none or the request has it only as text. */
  readonly format?: Format;
}

/** The subset of JSON Schema that a vendor's structured output supports. */
export interface SchemaDialect {
  /** The supported keywords, apart from those for structure. */
  readonly keywords: ReadonlySet<string>;
  /** The supported values of `format`. */
  readonly formats: ReadonlySet<string>;
  /** Whether `enum` may contain this value. */
  literal(value: JsonValue): boolean;
  /** Every object must exclude unknown properties. */
  readonly closed: boolean;
  /** Every property must be required; an optional one may be null instead. */
  readonly allRequired: boolean;
  /** A schema may refer to itself. */
  readonly recursive: boolean;
  /** Whether `prefixItems` is supported. */
  readonly tuples: boolean;
}

/** Thrown for a schema that the dialect cannot express. */
class Inexpressible extends Error {}

/**
 * The schema in the vendor's dialect, null if it cannot be expressed. Unsupported constraints are moved to the
 * descriptions, where the model reads them. An answer that is valid for the result is valid for the schema, except for
 * these constraints and nulls of optional properties.
 */
export function vendorSchema(schema: JsonObject, dialect: SchemaDialect): JsonObject | null {
  try {
    return new Translation(schema, dialect).root();
  } catch (thrown) {
    if (thrown instanceof Inexpressible) return null;
    throw thrown;
  }
}

class Translation {
  readonly #root: JsonObject;
  readonly #dialect: SchemaDialect;
  readonly #definitions = new Map<string, JsonObject | null>();

  constructor(root: JsonObject, dialect: SchemaDialect) {
    this.#root = root;
    this.#dialect = dialect;
  }

  root(): JsonObject {
    const schema = this.#translated(this.#root);
    if (this.#definitions.size === 0) return schema;
    return { ...schema, $defs: Object.fromEntries(this.#definitions) };
  }

  #translated(schema: JsonValue | undefined): JsonObject {
    if (!isJsonObject(schema) || DYNAMIC.some((name) => name in schema)) throw new Inexpressible();
    if (schema !== this.#root && ('$id' in schema || '$defs' in schema || 'definitions' in schema))
      throw new Inexpressible();
    if ('$ref' in schema) return this.#reference(schema);
    if (Array.isArray(schema.allOf)) return this.#translated(this.#merged(schema, schema.allOf));
    const choices = schema.anyOf ?? schema.oneOf;
    if (Array.isArray(choices) && isOnly(schema, 'anyOf', 'oneOf'))
      return { ...annotations(schema), anyOf: choices.map((one) => this.#translated(one)) };
    return this.#typed(schema);
  }

  #reference({ $ref }: JsonObject): JsonObject {
    if ($ref === '#' && this.#dialect.recursive) return { $ref };
    const [, place, name = ''] = /^#\/(\$defs|definitions)\/([^/%~]+)$/.exec(String($ref)) ?? [];
    const definitions = place === undefined ? undefined : this.#root[place];
    if (!isJsonObject(definitions) || !Object.hasOwn(definitions, name)) throw new Inexpressible();
    if (place === 'definitions' && isJsonObject(this.#root.$defs) && Object.hasOwn(this.#root.$defs, name))
      throw new Inexpressible();
    const known = this.#definitions.get(name);
    if (known === null && !this.#dialect.recursive) throw new Inexpressible();
    if (known === undefined) {
      this.#definitions.set(name, null);
      this.#definitions.set(name, this.#translated(definitions[name]));
    }
    return { $ref: `#/$defs/${name}` };
  }

  /** Merges several object schemas into one. */
  #merged(schema: JsonObject, all: readonly JsonValue[]): JsonObject {
    const { allOf: _, ...own } = schema;
    const parts = all.map((part) => this.#resolved(part));
    const [only] = parts;
    if (parts.length === 1 && only !== undefined && isOnly(own)) return { ...only, ...own };
    const objects = [own, ...parts].filter((part) => !isOnly(part));
    if (!objects.every((part) => isObjectSchema(part) && isOnly(part, 'type', 'properties', 'required')))
      throw new Inexpressible();
    const named = (part: JsonObject) => (isJsonObject(part.properties) ? Object.entries(part.properties) : []);
    const properties = objects.flatMap(named);
    const names = new Set(properties.map(([name]) => name));
    if (names.size < properties.length) throw new Inexpressible();
    const required = objects.flatMap((part) => (Array.isArray(part.required) ? part.required : []));
    return { ...annotations(own), type: 'object', properties: Object.fromEntries(properties), required };
  }

  #resolved(part: JsonValue): JsonObject {
    if (!isJsonObject(part)) throw new Inexpressible();
    const [, place = '', name = ''] = /^#\/(\$defs|definitions)\/([^/%~]+)$/.exec(String(part.$ref)) ?? [];
    const definitions = this.#root[place];
    const target = isJsonObject(definitions) ? definitions[name] : undefined;
    if ('$ref' in part && !isJsonObject(target)) throw new Inexpressible();
    return isJsonObject(target) ? target : part;
  }

  #typed(schema: JsonObject): JsonObject {
    const types = typesOf(schema);
    if (types.length === 0) throw new Inexpressible();
    const [first = ''] = types;
    if (types.length === 1 || !types.some((type) => type === 'object' || type === 'array'))
      return this.#plain(schema, types.length === 1 ? first : types);
    const { title, description, ...rest } = schema;
    const said = annotations({ title, description });
    return { ...said, anyOf: types.map((type) => this.#plain(rest, type)) };
  }

  /** A schema for values of this type, or of several types other than objects and arrays. */
  #plain(schema: JsonObject, type: string | readonly string[]): JsonObject {
    const { keywords, formats } = this.#dialect;
    const literals = this.#literals(schema);
    const kept = Object.entries(schema).filter(([name]) => !STRUCTURE.has(name) && keywords.has(name));
    const format = typeof schema.format === 'string' && formats.has(schema.format) ? schema.format : null;
    const lost = Object.entries(schema).filter(
      ([name]) =>
        (!STRUCTURE.has(name) && !keywords.has(name)) ||
        (name === 'format' && format === null) ||
        (literals === null && (name === 'enum' || name === 'const')),
    );
    return {
      ...described(schema, lost),
      type,
      ...literals,
      ...(format !== null && { format }),
      ...Object.fromEntries(kept),
      ...(type === 'object' && this.#object(schema)),
      ...(type === 'array' && this.#array(schema)),
    };
  }

  /** The schema of a fixed set of values; null if there is none or the vendor does not support these values. */
  #literals({ enum: values, const: value }: JsonObject): JsonObject | null {
    const given = value === undefined ? values : [value];
    if (!Array.isArray(given) || given.length === 0 || !given.every(this.#dialect.literal)) return null;
    return { enum: given };
  }

  #object({ properties = {}, required, additionalProperties = true, patternProperties }: JsonObject): JsonObject {
    const { closed, allRequired } = this.#dialect;
    const given = isJsonObject(properties) ? Object.entries(properties) : [];
    const needed = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
    if (needed.some((name) => !given.some(([known]) => known === name))) throw new Inexpressible();
    // Such an object is meant to have arbitrary properties.
    const isMap = isJsonObject(additionalProperties) || patternProperties !== undefined;
    const isOpen = isMap || (given.length === 0 && additionalProperties !== false);
    if (isOpen && (closed || patternProperties !== undefined)) throw new Inexpressible();
    const made = given.map(([name, schema]): [string, JsonObject] => {
      const one = this.#translated(schema);
      return [name, allRequired && !needed.includes(name) ? orNull(one) : one];
    });
    const extra = isJsonObject(additionalProperties) ? this.#translated(additionalProperties) : isOpen;
    const names = allRequired ? given.map(([name]) => name) : needed;
    return {
      properties: Object.fromEntries(made),
      ...((allRequired || names.length > 0) && { required: names }),
      ...(extra !== true && { additionalProperties: extra }),
    };
  }

  #array({ items, prefixItems }: JsonObject): JsonObject {
    if (prefixItems !== undefined || Array.isArray(items)) {
      if (!this.#dialect.tuples || !Array.isArray(prefixItems)) throw new Inexpressible();
      const rest = isJsonObject(items) ? { items: this.#translated(items) } : {};
      return { prefixItems: prefixItems.map((one) => this.#translated(one)), ...rest };
    }
    return { items: this.#translated(items) };
  }
}

/** True if a schema has only these keywords and annotations. */
function isOnly(schema: JsonObject, ...names: readonly string[]): boolean {
  return Object.keys(schema).every((name) => names.includes(name) || ANNOTATIONS.has(name));
}

function isObjectSchema({ type, properties }: JsonObject): boolean {
  return type === 'object' || (type === undefined && isJsonObject(properties));
}

/** The types that a value may have; empty if unknown. */
function typesOf(schema: JsonObject): readonly string[] {
  const { type, nullable } = schema;
  const named = Array.isArray(type) ? type.map(String) : type === undefined ? impliedTypes(schema) : [String(type)];
  return nullable === true && named.length > 0 && !named.includes('null') ? [...named, 'null'] : named;
}

function impliedTypes({ enum: values, const: value, properties, items, prefixItems }: JsonObject): readonly string[] {
  const given = value === undefined ? values : [value];
  if (Array.isArray(given)) return [...new Set(given.map(typeOf))];
  if (properties !== undefined) return ['object'];
  return items !== undefined || prefixItems !== undefined ? ['array'] : [];
}

function typeOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}

function annotations({ title, description }: JsonObject): JsonObject {
  return { ...(title !== undefined && { title }), ...(description !== undefined && { description }) };
}

/** The annotations, with the unsupported constraints in the description. */
function described(schema: JsonObject, lost: readonly (readonly [string, JsonValue | undefined])[]): JsonObject {
  if (lost.length === 0) return annotations(schema);
  const words = `{${lost.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ')}}`;
  const { description } = schema;
  return {
    ...annotations(schema),
    description: description === undefined ? words : `${String(description)}\n\n${words}`,
  };
}

/** The schema, or null. */
function orNull(schema: JsonObject): JsonObject {
  const { type, anyOf } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf.filter((one) => !isNull(one)), { type: 'null' }] };
  const types = Array.isArray(type) ? type : [type];
  if (types.includes('null')) return schema;
  if (type === undefined || type === 'object' || type === 'array' || schema.enum !== undefined) {
    const { description, ...rest } = schema;
    return { ...annotations({ description }), anyOf: [rest, { type: 'null' }] };
  }
  return { ...schema, type: [...types.map(String), 'null'] };
}

const isNull = (schema: JsonValue): boolean => isJsonObject(schema) && schema.type === 'null';

/** Keywords that do not describe the value. */
const SILENT = new Set(['$schema', '$id', '$comment', '$defs', 'definitions', 'readOnly', 'writeOnly', 'deprecated']);

/** Keywords that do not restrict the value. */
const ANNOTATIONS = new Set(['title', 'description', 'default', 'examples', ...SILENT]);

/** Keywords that the translation handles itself. */
const STRUCTURE = new Set([
  'type',
  'nullable',
  'title',
  'description',
  'enum',
  'const',
  'format',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'prefixItems',
  ...SILENT,
]);

/** References other than paths. */
const DYNAMIC = ['$anchor', '$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor'];

/** The request with its schema as text after the user's newest message, so that the cached prefix does not change. */
export function withSchemaInWords(request: ChatRequest): ChatRequest {
  const { schema, messages } = request;
  if (schema === undefined) return request;
  const text = `Answer with one JSON object and nothing else: no words around it, no code fence. It must fit this JSON Schema:\n${JSON.stringify(schema.schema)}`;
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const extended = messages.map((message, at) =>
    at === asked ? { ...message, content: [...message.content, { type: 'text' as const, text }] } : message,
  );
  return { ...request, messages: extended };
}

/** The same for a server without structured output. */
export function withSchemaInWordsOnly(request: ChatRequest): ChatRequest {
  const { schema: _, ...rest } = withSchemaInWords(request);
  return rest;
}
