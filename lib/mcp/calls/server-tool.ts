import { isJsonObject, type JsonObject } from '../../chat/json.js';
import type { ServerAccess } from '../../permission/access.js';
import type { Tool } from '../../tools/common/tool.js';
import type { ServerEntry } from '../base/server-entry.js';
import type { CallLimits } from '../connection/client.js';
import type { Offer, ToolDefinition } from '../definitions/definition.js';
import { runServerTool } from './run-server-tool.js';
import type { ToolPins } from './tool-pins.js';

/** What a server's tool needs. */
export interface ServerToolDeps {
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
