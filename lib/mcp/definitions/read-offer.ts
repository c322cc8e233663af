import { isJsonObject, isTooDeep, type JsonObject, type JsonValue, MAX_LEVELS } from '../../chat/json.js';
import { harmlessLine, harmlessText } from '../base/harmless-text.js';
import {
  definitionHash,
  type Offer,
  type PromptDefinition,
  type ResourceDefinition,
  type ToolDefinition,
} from './definition.js';

/** The longest text of a server in a request. */
const LONGEST_DESCRIPTION = 2048;
const LONGEST_INSTRUCTIONS = 2048;
const LONGEST_NAME = 256;
const LONGEST_ADDRESS = 2048;

/** How many entries of one kind are kept. */
const MOST_ENTRIES = 2000;

/** A server's answers to the list requests. */
export interface Listing {
  readonly tools: readonly unknown[];
  readonly prompts: readonly unknown[];
  readonly resources: readonly unknown[];
  readonly templates: readonly unknown[];
  readonly instructions: unknown;
  readonly prior: JsonObject | null;
  readonly expires: number | null;
}

/** What a server offers, without invisible, overlong or malformed content. */
export function readOffer({ tools, prompts, resources, templates, instructions, prior, expires }: Listing): Offer {
  const callable = tools.filter((tool) => !runsOnlyAsTask(tool));
  const read = callable.slice(0, MOST_ENTRIES).map(readTool);
  const known = read.filter((tool) => tool !== null);
  const unique = known.filter(({ name }, at) => known.findIndex((one) => one.name === name) === at);
  const lost = callable.length - unique.length;
  const tasks = tools.length - callable.length;
  return {
    tools: unique,
    prompts: prompts.slice(0, MOST_ENTRIES).flatMap((prompt) => readPrompt(prompt) ?? []),
    resources: resources.slice(0, MOST_ENTRIES).flatMap((resource) => readResource(resource) ?? []),
    templates: templates.slice(0, MOST_ENTRIES).flatMap((template) => readTemplate(template) ?? []),
    instructions: harmlessText(instructions, LONGEST_INSTRUCTIONS),
    problems: [
      ...(lost === 0
        ? []
        : [`${lost} of its ${tools.length} tools were left out: they have no name of their own, or are too many.`]),
      ...(tasks === 0
        ? []
        : [`${tasks} of its ${tools.length} tools were left out: they run only as tasks, which hi does not have.`]),
    ],
    prior,
    expires,
  };
}

/**
 * Each call of such a tool would be refused:
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
function runsOnlyAsTask(given: unknown): boolean {
  return isJsonObject(given) && isJsonObject(given.execution) && given.execution.taskSupport === 'required';
}

function readTool(given: unknown): ToolDefinition | null {
  if (!isJsonObject(given)) return null;
  const { name, description, inputSchema, annotations } = given;
  if (typeof name !== 'string' || name === '' || name.length > LONGEST_NAME) return null;
  const schema: JsonValue = isJsonObject(inputSchema) && !isTooDeep(inputSchema) ? inputSchema : {};
  return {
    name,
    description: harmlessText(description, LONGEST_DESCRIPTION),
    parameters: fitSchema(schema),
    hash: definitionHash({ name, description: description ?? null, inputSchema: schema }),
    claimsReadOnly: isJsonObject(annotations) && annotations.readOnlyHint === true,
  };
}

function readPrompt(given: unknown): PromptDefinition | null {
  if (!isJsonObject(given) || typeof given.name !== 'string' || given.name === '') return null;
  if (given.name !== harmlessLine(given.name, LONGEST_NAME)) return null;
  const list: readonly unknown[] = Array.isArray(given.arguments) ? given.arguments : [];
  const named = list.filter((one) => isJsonObject(one)).filter(({ name }) => typeof name === 'string');
  return {
    name: given.name,
    description: harmlessLine(given.description, 200),
    arguments: named.map(({ name, description, required }) => ({
      name: harmlessLine(name, LONGEST_NAME),
      description: harmlessLine(description, 200),
      required: required === true,
    })),
  };
}

function readResource(given: unknown): ResourceDefinition | null {
  return isJsonObject(given) ? resourceAt(given, given.uri) : null;
}

/** A template is an address with placeholders in braces (RFC 6570). */
function readTemplate(given: unknown): ResourceDefinition | null {
  return isJsonObject(given) ? resourceAt(given, given.uriTemplate) : null;
}

/** An address that cannot be shown unchanged would be a different one when typed. */
function resourceAt(given: JsonObject, uri: unknown): ResourceDefinition | null {
  if (typeof uri !== 'string' || uri === '' || uri !== harmlessLine(uri, LONGEST_ADDRESS)) return null;
  return {
    uri,
    name: harmlessLine(given.name, LONGEST_NAME),
    description: harmlessLine(given.description, 200),
  };
}

/** How many values a schema may have after its references are expanded. A short schema can expand without bounds. */
const MOST_VALUES = 1500;

/** The longest text in a schema, and the longest name of an argument. */
const LONGEST_TEXT = 2000;
const LONGEST_PARAMETER = 128;

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
 * A schema of arguments that every vendor accepts: one object with every local reference expanded. A reference to
 * itself, to nothing or to another place allows any value there: nothing is ever fetched.
 */
function fitSchema(given: unknown): JsonObject {
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
    const named = Object.entries(schemas).filter(([name]) => name === harmlessText(name, LONGEST_PARAMETER));
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
