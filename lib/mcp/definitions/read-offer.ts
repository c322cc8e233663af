import { isJsonObject, isTooDeep, type JsonObject, type JsonValue } from '../../chat/json.js';
import { harmlessLine, harmlessText } from '../base/harmless-text.js';
import type { Offer, PromptDefinition, ResourceDefinition, ToolDefinition } from './definition.js';
import { definitionHash } from './definition-hash.js';
import { fitSchema } from './input-schema.js';

/** How much of a server's text goes into a request. */
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
  const read = tools.slice(0, MOST_ENTRIES).map(readTool);
  const known = read.filter((tool) => tool !== null);
  const unique = known.filter(({ name }, at) => known.findIndex((one) => one.name === name) === at);
  const lost = tools.length - unique.length;
  return {
    tools: unique,
    prompts: prompts.slice(0, MOST_ENTRIES).flatMap((prompt) => readPrompt(prompt) ?? []),
    resources: resources.slice(0, MOST_ENTRIES).flatMap((resource) => readResource(resource) ?? []),
    templates: templates.slice(0, MOST_ENTRIES).flatMap((template) => readTemplate(template) ?? []),
    instructions: harmlessText(instructions, LONGEST_INSTRUCTIONS),
    problems:
      lost === 0
        ? []
        : [`${lost} of its ${tools.length} tools were left out: they have no name of their own, or are too many.`],
    prior,
    expires,
  };
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
