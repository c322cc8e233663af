import { isJsonObject, type JsonObject, type JsonValue, MAX_LEVELS } from '../../chat/json.js';
import { harmlessText } from '../base/harmless-text.js';

/** How many values a schema may have after its references are expanded. A short schema can expand without bounds. */
const MOST_VALUES = 1500;

/** The longest text in a schema, and the longest name of an argument. */
const LONGEST_TEXT = 2000;
const LONGEST_NAME = 128;

/** Keywords that vendors refuse, or that mean nothing after expansion. */
const LEFT_OUT = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$vocabulary',
  '$comment',
  '$defs',
  'definitions',
]);

/** Keywords whose values map names to schemas, so that their keys are not keywords. */
const BY_NAME = new Set(['properties', 'patternProperties', 'dependentSchemas']);

/**
 * A schema of arguments that every vendor accepts: one object with every local reference expanded. A reference to itself, to
 * nothing or to another place allows any value there: nothing is ever fetched.
 */
export function fitSchema(given: unknown): JsonObject {
  const root: JsonObject = isJsonObject(given) ? given : {};
  const fitted = new SchemaFitter(root).fit();
  const properties = isJsonObject(fitted.properties) ? fitted.properties : {};
  return { ...fitted, type: 'object', properties };
}

class SchemaFitter {
  readonly #root: JsonObject;
  #values = 0;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  fit(): JsonObject {
    return this.#object(this.#root, new Set([this.#root]), 0);
  }

  /** `within` are the enclosing schemas. */
  #value(value: JsonValue | undefined, within: ReadonlySet<JsonObject>, level: number): JsonValue {
    this.#values += 1;
    if (typeof value === 'string') return harmlessText(value, LONGEST_TEXT);
    if (value === undefined || typeof value !== 'object' || value === null) return value ?? null;
    if (level > MAX_LEVELS / 2 || this.#values > MOST_VALUES) return {};
    if (!isJsonObject(value)) return value.map((one) => this.#value(one, within, level + 1));
    return this.#object(value, within, level);
  }

  #object(schema: JsonObject, within: ReadonlySet<JsonObject>, level: number): JsonObject {
    const { $ref, $dynamicRef, ...rest } = schema;
    const reference = $ref ?? $dynamicRef;
    if (reference === undefined) return this.#entries(rest, within, level);
    const target = this.#target(reference);
    const own = this.#entries(rest, within, level);
    if (target === null || within.has(target)) return own;
    return { ...this.#object(target, new Set([...within, target]), level + 1), ...own };
  }

  #entries(schema: JsonObject, within: ReadonlySet<JsonObject>, level: number): JsonObject {
    const kept = Object.entries(schema).filter(([key]) => !LEFT_OUT.has(key));
    return Object.fromEntries(
      kept.map(([key, value]) => [
        key,
        BY_NAME.has(key) && isJsonObject(value)
          ? this.#named(value, within, level)
          : this.#value(value, within, level + 1),
      ]),
    );
  }

  #named(schemas: JsonObject, within: ReadonlySet<JsonObject>, level: number): JsonObject {
    const named = Object.entries(schemas).filter(([name]) => name === harmlessText(name, LONGEST_NAME));
    return Object.fromEntries(named.map(([name, schema]) => [name, this.#value(schema, within, level + 2)]));
  }

  /** The target of a local reference (`#/$defs/name`); null for any other. */
  #target(reference: JsonValue): JsonObject | null {
    if (typeof reference !== 'string' || !reference.startsWith('#')) return null;
    let found: JsonValue | undefined = this.#root;
    for (const step of reference.slice(1).split('/').slice(1)) {
      const key = unescaped(step);
      found = isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
    }
    return isJsonObject(found) ? found : null;
  }
}

/** A step of a JSON pointer in an address. */
function unescaped(step: string): string {
  const plain = step.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}
