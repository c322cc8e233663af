import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isJsonObject, type JsonObject, parseObject } from '../../chat/json.js';
import { makeFolder } from '../../folder.js';
import { writeAside } from '../../write-aside.js';
import type { ServerEntry } from '../base/server-entry.js';
import type { ToolDefinition } from '../definitions/definition.js';

/** A change since the user last saw a tool. */
export interface Change {
  /** In a few words. */
  readonly reason: string;
  /** The old and the new definition, as lines that start with `-` and `+`. */
  readonly text: string;
  /** Whether the tool changed although its server's configuration did not, so that the change is not the user's. */
  readonly isOfTool: boolean;
}

/** The tools of servers as the user first saw or last approved them: "always" applies to the tool as it was then. */
export class ToolPins {
  readonly #path: string;
  #servers: JsonObject | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** Records the tools of a server seen for the first time. */
  meet(entry: ServerEntry, tools: readonly ToolDefinition[]): void {
    if (Object.hasOwn(this.#read(), entry.name)) return;
    this.#keep(entry, pinsOf(tools));
  }

  /** Why an earlier approval of this tool no longer applies; null if it does. */
  change({ name, key }: ServerEntry, tool: ToolDefinition): Change | null {
    const server = this.#read()[name];
    if (!isJsonObject(server)) return { reason: `the server '${name}' is new`, text: '', isOfTool: false };
    if (server.key !== key)
      return { reason: `how the server '${name}' is started has changed`, text: '', isOfTool: false };
    const pin = isJsonObject(server.tools) && Object.hasOwn(server.tools, tool.name) ? server.tools[tool.name] : null;
    if (!isJsonObject(pin))
      return { reason: `the server '${name}' did not have this tool before`, text: '', isOfTool: true };
    if (pin.hash === tool.hash) return null;
    return {
      reason: 'its server has changed its description',
      text: difference(pin, tool),
      isOfTool: true,
    };
  }

  /** The user has seen the current definition. */
  accept(entry: ServerEntry, tool: ToolDefinition): void {
    const server = this.#read()[entry.name];
    const isSame = isJsonObject(server) && server.key === entry.key && isJsonObject(server.tools);
    this.#keep(entry, { ...(isSame && isJsonObject(server.tools) ? server.tools : {}), [tool.name]: pinOf(tool) });
  }

  /** The user has replaced the server: accepts all its current tools. */
  acceptServer(entry: ServerEntry, tools: readonly ToolDefinition[]): void {
    this.#keep(entry, pinsOf(tools));
  }

  /** Forgets a server. */
  remove(name: string): void {
    const { [name]: _, ...others } = this.#read();
    this.#write(others);
  }

  #keep({ name, key }: ServerEntry, tools: JsonObject): void {
    this.#write({ ...this.#read(), [name]: { key, tools } });
  }

  #read(): JsonObject {
    this.#servers ??= readServers(this.#path);
    return this.#servers;
  }

  #write(servers: JsonObject): void {
    this.#servers = servers;
    makeFolder(dirname(this.#path), 0o700);
    writeAside(this.#path, JSON.stringify(servers), { mode: 0o600, synced: true });
  }
}

function readServers(path: string): JsonObject {
  try {
    return parseObject(readFileSync(path, 'utf8')) ?? {};
  } catch {
    return {};
  }
}

const pinOf = ({ hash, description, parameters }: ToolDefinition): JsonObject => ({ hash, description, parameters });

const pinsOf = (tools: readonly ToolDefinition[]): JsonObject =>
  Object.fromEntries(tools.map((tool) => [tool.name, pinOf(tool)]));

function difference({ description: before, parameters }: JsonObject, { description, ...tool }: ToolDefinition): string {
  const lines = before === description ? [] : [...prefixed('-', String(before)), ...prefixed('+', description)];
  const [old, now] = [JSON.stringify(parameters), JSON.stringify(tool.parameters)];
  return [...lines, ...(old === now ? [] : [`- arguments: ${old}`, `+ arguments: ${now}`])].join('\n');
}

const prefixed = (mark: string, text: string): readonly string[] => text.split('\n').map((line) => `${mark} ${line}`);
