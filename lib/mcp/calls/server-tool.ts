import { isJsonObject, type JsonObject, parseObject } from '../../chat/json.js';
import { HiError } from '../../errors.js';
import type { ServerAccess } from '../../permission/access.js';
import { suggestion } from '../../registry.js';
import type { Tool, ToolContext } from '../../tools/common/tool.js';
import { serverQuestion } from '../base/elicitation.js';
import { harmlessLine, withoutHidden } from '../base/harmless-text.js';
import type { ServerEntry } from '../base/server-entry.js';
import type { CallLimits } from '../connection/client.js';
import type { Offer, ToolDefinition, ToolPins } from '../definitions/definition.js';
import { readResult } from './read-result.js';

/** What a server's tool needs. */
interface ServerToolDeps {
  /** As the model knows it. */
  readonly name: string;
  readonly entry: ServerEntry;
  readonly definition: ToolDefinition;
  readonly pins: ToolPins;
  /** What its server offers now. */
  offered(): Pick<Offer, 'tools' | 'instructions'>;
  /** Calls it, after starting its server if needed. */
  call(args: JsonObject, limits: CallLimits): Promise<unknown>;
}

/** Wraps a server's tool as a `Tool`. */
export function serverTool(deps: ServerToolDeps): Tool {
  const { name, definition } = deps;
  return {
    name,
    description: definition.description,
    parameters: definition.parameters,
    accessKind: 'server',
    rulesCoverKind: false,
    effect: null,
    server: deps.entry.name,
    check: (args) => missingArguments(name, definition.parameters, args),
    access: (args) => accessOf(deps, args),
    run: async (args, context, emit, signal) => runServerTool(deps, args, context, emit, signal),
  };
}

/** The server checks its arguments itself. Only missing required ones are reported here, before the user is asked. */
function missingArguments(name: string, { required, properties }: JsonObject, args: JsonObject): string | null {
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  // Many servers mark arguments with a default as required.
  const hasDefault = (one: string): boolean =>
    isJsonObject(properties) && isJsonObject(properties[one]) && properties[one].default !== undefined;
  const missing = names
    .filter((one) => typeof one === 'string')
    .filter((one) => !Object.hasOwn(args, one) && !hasDefault(one));
  if (missing.length === 0) return null;
  const known = isJsonObject(properties) ? Object.keys(properties).join(', ') : '';
  return `Invalid arguments for ${name}: ${missing.map((one) => `'${one}' is missing`).join('; ')}. Expected: {${known}}.`;
}

function accessOf({ entry, definition, pins, offered }: ServerToolDeps, args: JsonObject): ServerAccess {
  // What is accepted is what was there when the user was asked.
  const offer = offered();
  const change = pins.change(entry, definition, offer.instructions);
  const claim = definition.claimsReadOnly ? ', which says that it only reads' : '';
  return {
    kind: 'server',
    args,
    about: `a tool of the server '${entry.name}'${claim}`,
    changed: change?.reason ?? null,
    isAnother: change?.isOfTool === true,
    preview: () =>
      [`${definition.name} ${JSON.stringify(args, null, 2)}`, change?.text ?? ''].filter(Boolean).join('\n\n'),
    accept: () => pins.accept(entry, definition, offer.instructions),
    acceptServer: () => pins.acceptServer(entry, offer),
  };
}

/** What a call needs to know about its tool. */
interface CallableTool {
  readonly entry: ServerEntry;
  call(args: JsonObject, limits: CallLimits): Promise<unknown>;
}

/** Calls a server's tool and returns its result for the model. Throws a `HiError` if the call failed. */
async function runServerTool(
  { entry, call }: CallableTool,
  args: JsonObject,
  { runner }: ToolContext,
  emit: (text: string) => void,
  signal: AbortSignal,
): Promise<JsonObject> {
  const limits: CallLimits = {
    silence: entry.timeout,
    signal,
    progress: (text) => emit(`${harmlessLine(text, 80)}\n`),
    asked: (question, action) => runner?.asked(serverQuestion(entry.name, question, action)),
  };
  const { text, files, isError } = readResult(await call(args, limits));
  const named = files.map(({ mime, bytes }) => runner?.giveFile(mime, bytes) ?? describe(mime, bytes));
  const whole = [withoutHidden(text), ...named].filter((part) => part !== '').join('\n');
  const content = runner?.fitOutput(whole) ?? whole;
  if (isError) throw new HiError('usage', content === '' ? 'The tool failed without saying why.' : content);
  return { content };
}

const describe = (mime: string, bytes: Uint8Array): string => `[${mime}, ${bytes.length} bytes]`;

/** How many definitions one call returns. */
const MOST_FOUND = 8;

/** How much of a description is listed, and how many characters the list may have before only names are listed. */
const LINE = 80;
const LIST = 8000;

/** What the two tools share. */
const OWN = { accessKind: 'conversation', rulesCoverKind: false, effect: null } as const;

/**
 * The tools that stand for others, whose definitions would take too much of every request: `find_tool` lists them and
 * returns definitions, `call_tool` calls one. The definitions follow in the conversation and not in the list of tools,
 * which comes first in a request: a change of it makes every vendor read the whole conversation again. `find` returns a
 * tool by its name.
 */
export function deferredTools(tools: readonly Tool[], find: (name: string) => Tool | undefined): readonly Tool[] {
  return [findTool(tools, find), callTool(tools, find)];
}

function findTool(tools: readonly Tool[], find: (name: string) => Tool | undefined): Tool {
  return {
    ...OWN,
    name: 'find_tool',
    description: `Returns the full definitions of tools that call_tool calls. Give names from this list, or words to search for:\n${listOf(tools)}`,
    parameters: {
      type: 'object',
      properties: {
        query: { type: 'string', minLength: 1, description: 'Names of tools, or words that say what one should do.' },
      },
      required: ['query'],
      additionalProperties: false,
    },
    check: ({ query }) =>
      typeof query === 'string' && query.trim() !== '' ? null : `'query' is missing: give names or words.`,
    access: () => ({ kind: 'conversation' }),
    async run({ query }) {
      const found = bestOf(tools, String(query)).flatMap(({ name }) => find(name) ?? []);
      if (found.length === 0)
        throw new HiError('usage', 'No tool matches these words. Try others, or a name from the list.');
      return { tools: found.map(({ name, description, parameters }) => ({ name, description, parameters })) };
    },
  };
}

/** The call runs as one of the tool that it names, with its permissions, checks and server. */
function callTool(tools: readonly Tool[], find: (name: string) => Tool | undefined): Tool {
  return {
    ...OWN,
    name: 'call_tool',
    description: 'Calls a tool of the list of find_tool. Get its definition first.',
    parameters: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'Its name, as listed.' },
        arguments: { type: 'object', description: 'Its arguments, by its definition.' },
      },
      required: ['name', 'arguments'],
      additionalProperties: false,
    },
    check: (args) => (meant(args) === null ? `Expected: {name, arguments}, with the arguments as an object.` : null),
    standsFor(args) {
      const call = meant(args);
      return call !== null && find(call.name) !== undefined ? call : null;
    },
    access: () => ({ kind: 'conversation' }),
    async run({ name }) {
      const known = tools.map((tool) => tool.name);
      throw new HiError('usage', `Unknown tool '${String(name)}'. ${suggestion(String(name), known)}`);
    },
  };
}

/**
 * The call that these arguments describe; null if they describe none. Some models write an object without a schema as a
 * string.
 */
function meant({ name, arguments: given }: JsonObject): { readonly name: string; readonly args: JsonObject } | null {
  const args = typeof given === 'string' ? parseObject(given) : given;
  return typeof name === 'string' && isJsonObject(args) ? { name, args } : null;
}

/** The tools, one on each line, with what each does unless there are very many. */
function listOf(tools: readonly Tool[]): string {
  const whole = tools.map(({ name, description }) => `${name}: ${lineOf(description)}`).join('\n');
  return whole.length <= LIST ? whole : tools.map(({ name }) => name).join('\n');
}

function lineOf(description: string): string {
  const [line = ''] = description.split('\n');
  return line.length <= LINE ? line : `${line.slice(0, LINE - 1)}…`;
}

/** The named tools or, if none is named, those that match the most words. */
function bestOf(tools: readonly Tool[], query: string): readonly Tool[] {
  const words = query
    .toLowerCase()
    .split(/[^\p{L}\p{N}_-]+/u)
    .filter((word) => word !== '');
  const named = tools.filter(({ name }) => words.includes(name.toLowerCase()));
  if (named.length > 0) return named.slice(0, MOST_FOUND);
  const rated = tools.map((tool) => {
    const text = `${tool.name} ${tool.description}`.toLowerCase();
    return { tool, hits: words.filter((word) => text.includes(word)).length };
  });
  const found = rated.filter(({ hits }) => hits > 0).sort((a, b) => b.hits - a.hits);
  return found.slice(0, MOST_FOUND).map(({ tool }) => tool);
}
