import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isJsonObject, type JsonObject, parseObject } from '../../chat/json.js';
import { makeFolder } from '../../folder.js';
import { writeAside } from '../../write-aside.js';
import type { ServerEntry } from '../base/server-entry.js';
import type { Offer, ToolDefinition } from '../definitions/definition.js';

/** A change since the user last saw a tool. */
export interface Change {
  /** In a few words. */
  readonly reason: string;
  /** The old and the new definition, as lines that start with `-` and `+`. */
  readonly text: string;
  /** Whether the tool changed although its server's configuration did not, so that the change is not the user's. */
  readonly isOfTool: boolean;
}

/** What a server offers that is shown to the model unasked. */
type Offered = Pick<Offer, 'tools' | 'instructions'>;

/**
 * The tools and instructions of servers as the user first saw or last approved them: "always" applies to what they were
 * then.
 */
export class ToolPins {
  readonly #path: string;
  #servers: JsonObject | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** Records what a server offers that is seen for the first time. */
  meet(entry: ServerEntry, offer: Offered): void {
    if (!Object.hasOwn(this.#read(), entry.name)) this.acceptServer(entry, offer);
  }

  /** The instructions of a server as the user last accepted them; empty for none. */
  instructions({ name, key }: ServerEntry): string {
    const server = this.#read()[name];
    return isJsonObject(server) && server.key === key && typeof server.instructions === 'string'
      ? server.instructions
      : '';
  }

  /**
   * Why an earlier approval of this tool no longer applies; null if it does. `instructions` are those of its server
   * now.
   */
  change(entry: ServerEntry, tool: ToolDefinition, instructions: string): Change | null {
    const { name, key } = entry;
    const server = this.#read()[name];
    if (!isJsonObject(server)) return { reason: `the server '${name}' is new`, text: '', isOfTool: false };
    if (server.key !== key)
      return { reason: `how the server '${name}' is started has changed`, text: '', isOfTool: false };
    const pin = isJsonObject(server.tools) && Object.hasOwn(server.tools, tool.name) ? server.tools[tool.name] : null;
    if (!isJsonObject(pin))
      return { reason: `the server '${name}' did not have this tool before`, text: '', isOfTool: true };
    if (pin.hash !== tool.hash)
      return { reason: 'its server has changed its description', text: difference(pin, tool), isOfTool: true };
    const before = this.instructions(entry);
    if (before === instructions) return null;
    const text = changedLines(before, instructions).join('\n');
    return { reason: 'its server has changed its instructions for the model', text, isOfTool: true };
  }

  /** The user has seen the current definition, and the instructions of its server. */
  accept(entry: ServerEntry, tool: ToolDefinition, instructions: string): void {
    const server = this.#read()[entry.name];
    const isSame = isJsonObject(server) && server.key === entry.key && isJsonObject(server.tools);
    const others = isSame && isJsonObject(server.tools) ? server.tools : {};
    this.#keep(entry, { ...others, [tool.name]: pinOf(tool) }, instructions);
  }

  /** The user has replaced the server: accepts all that it offers now. */
  acceptServer(entry: ServerEntry, { tools, instructions }: Offered): void {
    this.#keep(entry, Object.fromEntries(tools.map((tool) => [tool.name, pinOf(tool)])), instructions);
  }

  /** Forgets a server. */
  remove(name: string): void {
    const { [name]: _, ...others } = this.#read();
    this.#write(others);
  }

  #keep({ name, key }: ServerEntry, tools: JsonObject, instructions: string): void {
    this.#write({ ...this.#read(), [name]: { key, tools, instructions } });
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

function difference({ description: before, parameters }: JsonObject, { description, ...tool }: ToolDefinition): string {
  const lines = before === description ? [] : changedLines(String(before), description);
  const [old, now] = [JSON.stringify(parameters), JSON.stringify(tool.parameters)];
  return [...lines, ...(old === now ? [] : [`- arguments: ${old}`, `+ arguments: ${now}`])].join('\n');
}

const changedLines = (before: string, now: string): readonly string[] => [
  ...(before === '' ? [] : prefixed('-', before)),
  ...(now === '' ? [] : prefixed('+', now)),
];

const prefixed = (mark: string, text: string): readonly string[] => text.split('\n').map((line) => `${mark} ${line}`);
