import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isJsonObject, type JsonObject, parseObject } from '../../chat/json.js';
import { makeFolder } from '../../folder.js';
import { writeAside } from '../../write-aside.js';
import type { ServerEntry } from '../base/server-entry.js';
import type { ToolDefinition } from '../definitions/definition.js';

/** What is not as it was when the user last saw it. */
export interface Change {
  /** In a few words. */
  readonly reason: string;
  /** What was and what is, as lines that begin with `-` and `+`. */
  readonly text: string;
  /** Whether the tool is another one, though its server is the same: that was not the user's doing. */
  readonly isOfTool: boolean;
}

/** The tools of servers as they were when the user first met them, or last agreed to them: "always" means the tool as it was then. */
export class ToolPins {
  readonly #path: string;
  #servers: JsonObject | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** Takes the tools of a server that was never met before as they are. */
  meet(entry: ServerEntry, tools: readonly ToolDefinition[]): void {
    if (Object.hasOwn(this.#read(), entry.name)) return;
    this.#keep(entry, pinsOf(tools));
  }

  /** Why what was said of this tool does not hold any more; null where it does. */
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
      reason: 'its server describes it in another way than before',
      text: difference(pin, tool),
      isOfTool: true,
    };
  }

  /** The user has seen the tool as it is. */
  accept(entry: ServerEntry, tool: ToolDefinition): void {
    const server = this.#read()[entry.name];
    const isSame = isJsonObject(server) && server.key === entry.key && isJsonObject(server.tools);
    this.#keep(entry, { ...(isSame && isJsonObject(server.tools) ? server.tools : {}), [tool.name]: pinOf(tool) });
  }

  /** The user has replaced the server: all its tools are taken as they are. */
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
