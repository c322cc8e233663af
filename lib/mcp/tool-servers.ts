import type { JsonObject } from '../chat/json.js';
import type { ToolSpec } from '../chat/request.js';
import type { Tool } from '../tools/common/tool.js';
import type { ServerEntry } from './base/server-entry.js';
import { modelName } from './base/tool-names.js';
import { findTool } from './calls/find-tool.js';
import { Pins } from './calls/pins.js';
import { serverTool } from './calls/server-tool.js';
import type { CallLimits } from './connection/client.js';
import type { ConnectionDeps, ServerConnection } from './connection/server-connection.js';
import type { Offer } from './definitions/definition.js';
import { OfferCache } from './definitions/offer-cache.js';

/** What the servers of a session are made with. */
export interface ToolServersDeps {
  readonly entries: readonly ServerEntry[];
  /** The folder of what is known of the servers, and the file of what the user has seen of their tools. */
  readonly cache: string;
  readonly pins: string;
  readonly connection: ConnectionDeps;
  /** The window of the model that answers, in tokens. */
  window(): number;
}

/** One server, as far as it is known. */
interface KnownServer {
  readonly entry: ServerEntry;
  offer: Offer | null;
  connection: Promise<ServerConnection> | null;
  /** Whether the server said that it offers other things now. */
  isStale: boolean;
}

/** With more tools, or more of the window, they are listed by name and found when they are needed. */
const MOST_TOOLS = 30;
const SHARE = 0.1;

/** How much of a description stands in the list. */
const LINE = 80;

/** The servers of a session. Nothing is started before a tool is called: what they offer is known from the last time. */
export class ToolServers {
  readonly #deps: ToolServersDeps;
  readonly #cache: OfferCache;
  readonly #pins: Pins;
  readonly #servers: readonly KnownServer[];
  readonly #shown: string[] = [];
  #tools: ReadonlyMap<string, Tool> = new Map();
  #finder: Tool | null = null;
  #problems: string[] = [];

  constructor(deps: ToolServersDeps) {
    this.#deps = deps;
    this.#cache = new OfferCache(deps.cache);
    this.#pins = new Pins(deps.pins);
    this.#servers = deps.entries.map((entry) => {
      const offer = this.#cache.read(entry);
      return { entry, offer, connection: null, isStale: false };
    });
    this.#build();
  }

  /** The tools as the model is offered them: all, or one that finds them and those that were found. */
  get specs(): readonly ToolSpec[] {
    const all = [...this.#tools.values()];
    const offered =
      this.#finder === null ? all : [this.#finder, ...this.#shown.flatMap((name) => this.#tools.get(name) ?? [])];
    return offered.map(({ name, description, parameters }) => ({ name, description, parameters }));
  }

  /** A tool by the name the model has for it, whether it was described in full or not. */
  find(name: string): Tool | undefined {
    return this.#finder?.name === name ? this.#finder : this.#tools.get(name);
  }

  /** Whether a server was never asked what it offers. */
  get isIncomplete(): boolean {
    return this.#servers.some(({ offer }) => offer === null);
  }

  /** Asks the servers of which nothing is known, all at once, and those that changed. What fails is told by `takeProblems`. */
  async settle(signal: AbortSignal): Promise<void> {
    const open = this.#servers.filter(({ offer, isStale }) => offer === null || isStale);
    if (open.length === 0) return;
    await Promise.all(open.map((server) => this.#ask(server, signal)));
    this.#build();
  }

  /** What the user should know, once. */
  takeProblems(): readonly string[] {
    return this.#problems.splice(0);
  }

  /** Ends every server. */
  async close(): Promise<void> {
    await Promise.all(this.#servers.map(async ({ connection }) => await (await connection)?.close()));
  }

  async #ask(server: KnownServer, signal: AbortSignal): Promise<void> {
    try {
      const connection = await this.#connection(server);
      this.#take(server, await connection.offer(signal));
    } catch (thrown) {
      if (signal.aborted) return;
      this.#problems.push(thrown instanceof Error ? thrown.message : String(thrown));
    }
  }

  #take(server: KnownServer, offer: Offer): void {
    server.isStale = false;
    server.offer = inOrder(offer, server.offer);
    this.#cache.write(server.entry, server.offer);
    this.#pins.meet(server.entry, server.offer.tools);
  }

  #connection(server: KnownServer): Promise<ServerConnection> {
    server.connection ??= import('./connection/server-connection.js').then(({ ServerConnection }) => {
      const changed = (): void => {
        server.isStale = true;
      };
      return new ServerConnection(server.entry, this.#deps.connection, server.offer?.prior ?? null, changed);
    });
    return server.connection;
  }

  /** Makes the tools of what is known now. */
  #build(): void {
    const tools = new Map<string, Tool>();
    for (const server of this.#servers) {
      for (const tool of this.#toolsOf(server)) {
        if (tools.has(tool.name))
          this.#problems.push(
            `Two tools of servers would be called ${tool.name}: the second one, of '${server.entry.name}', is left out.`,
          );
        else tools.set(tool.name, tool);
      }
    }
    this.#tools = tools;
    this.#finder = this.#isTooMuch([...tools.values()]) ? this.#makeFinder([...tools.values()]) : null;
  }

  #toolsOf(server: KnownServer): readonly Tool[] {
    const { entry, offer } = server;
    const wanted = (offer?.tools ?? []).filter(({ name }) => isWanted(entry, name));
    return wanted.map((definition) => {
      const call = async (args: JsonObject, limits: CallLimits): Promise<unknown> =>
        await (await this.#connection(server)).call(definition.name, args, limits);
      return serverTool({ name: modelName(entry.name, definition.name), entry, definition, pins: this.#pins, call });
    });
  }

  #isTooMuch(tools: readonly Tool[]): boolean {
    if (tools.length > MOST_TOOLS) return true;
    const specs = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
    return JSON.stringify(specs).length / 4 > SHARE * this.#deps.window();
  }

  #makeFinder(tools: readonly Tool[]): Tool {
    const listed = tools.map(({ name, description }) => ({ name, line: lineOf(description) }));
    return findTool(
      listed,
      (name) => this.#tools.get(name),
      (names) => {
        for (const name of names) if (!this.#shown.includes(name)) this.#shown.push(name);
      },
    );
  }
}

const isWanted = ({ only, not }: ServerEntry, name: string): boolean =>
  (only === null || only.includes(name)) && !not.includes(name);

/** The offer with the tools that were known before in their old order, and new ones behind: what was sent stays the beginning of what will be. */
function inOrder(offer: Offer, before: Offer | null): Offer {
  const known = before?.tools.map(({ name }) => name) ?? [];
  const place = ({ name }: { readonly name: string }): number =>
    known.includes(name) ? known.indexOf(name) : known.length;
  return { ...offer, tools: [...offer.tools].sort((a, b) => place(a) - place(b)) };
}

function lineOf(description: string): string {
  const [line = ''] = description.split('\n');
  return line.length <= LINE ? line : `${line.slice(0, LINE - 1)}…`;
}
