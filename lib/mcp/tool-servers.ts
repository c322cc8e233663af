import type { ToolSpec } from '../chat/request.js';
import type { Tool } from '../tools/common/tool.js';
import type { ServerEntry } from './base/server-entry.js';
import { modelName } from './base/tool-names.js';
import { findTool } from './calls/find-tool.js';
import { Pins } from './calls/pins.js';
import { serverTool } from './calls/server-tool.js';
import type { ConnectionDeps } from './connection/server-connection.js';
import { OfferCache } from './definitions/offer-cache.js';
import { KnownServer } from './known-server.js';

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

/** With more tools, or more of the window, they are listed by name and found when they are needed. */
const MOST_TOOLS = 30;
const SHARE = 0.1;

/** How much of a description stands in the list. */
const LINE = 80;

/** The servers of a session. Nothing is started before a tool is called: what they offer is known from the last time. */
export class ToolServers {
  readonly #deps: ToolServersDeps;
  readonly #servers: readonly KnownServer[];
  readonly #pins: Pins;
  /** The names of tools that were found, in that order. */
  readonly #found = new Set<string>();
  /** The tools as the turn began: what is sent does not change before the next one, but for what was found. */
  #offered: readonly Tool[] = [];
  #finder: Tool | null = null;

  constructor(deps: ToolServersDeps) {
    this.#deps = deps;
    this.#pins = new Pins(deps.pins);
    const store = { cache: new OfferCache(deps.cache), pins: this.#pins, connection: deps.connection };
    this.#servers = deps.entries.map((entry) => new KnownServer(entry, store));
    this.#offer();
  }

  /** The tools as the model is offered them: all, or one that finds them and those that were found. */
  get specs(): readonly ToolSpec[] {
    const offered =
      this.#finder === null
        ? this.#offered
        : [this.#finder, ...this.#offered.filter(({ name }) => this.#found.has(name))];
    return offered.map(specOf);
  }

  /** A tool by the name the model has for it, as its server describes it now. */
  find(name: string): Tool | undefined {
    if (this.#finder?.name === name) return this.#finder;
    return this.#tools().tools.get(name);
  }

  /** What is wrong with what the servers offer, in sentences. */
  get problems(): readonly string[] {
    const own = this.#servers.flatMap(({ entry, offer }) =>
      (offer?.problems ?? []).map((problem) => `The server '${entry.name}': ${problem}`),
    );
    return [...own, ...this.#tools().collisions];
  }

  /** Asks the servers of which nothing is known, all at once, and those that changed. Resolves with why some cannot be used. */
  async settle(signal: AbortSignal): Promise<readonly string[]> {
    const open = this.#servers.filter(({ isOpen }) => isOpen);
    const asked = await Promise.all(open.map((server) => failureOf(server.ask(signal))));
    this.#offer();
    return signal.aborted ? [] : asked.filter((failure) => failure !== null);
  }

  /** Ends every server. */
  async close(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.close()));
  }

  #offer(): void {
    this.#offered = [...this.#tools().tools.values()];
    this.#finder = this.#isTooMuch() ? this.#makeFinder() : null;
  }

  /** The tools of what is known now. */
  #tools(): { readonly tools: ReadonlyMap<string, Tool>; readonly collisions: readonly string[] } {
    const tools = new Map<string, Tool>();
    const collisions: string[] = [];
    for (const server of this.#servers) {
      for (const tool of this.#toolsOf(server)) {
        if (tools.has(tool.name)) collisions.push(collision(tool.name, server.entry.name));
        else tools.set(tool.name, tool);
      }
    }
    return { tools, collisions };
  }

  #toolsOf(server: KnownServer): readonly Tool[] {
    const { entry, offer } = server;
    const wanted = (offer?.tools ?? []).filter(({ name }) => isWanted(entry, name));
    return wanted.map((definition) =>
      serverTool({
        name: modelName(entry.name, definition.name),
        entry,
        definition,
        pins: this.#pins,
        call: (args, limits) => server.call(definition, args, limits),
      }),
    );
  }

  #isTooMuch(): boolean {
    if (this.#offered.length > MOST_TOOLS) return true;
    return JSON.stringify(this.#offered.map(specOf)).length / 4 > SHARE * this.#deps.window();
  }

  #makeFinder(): Tool {
    const listed = this.#offered.map(({ name, description }) => ({ name, line: lineOf(description) }));
    return findTool(
      listed,
      (name) => this.find(name),
      (names) => {
        for (const name of names) this.#found.add(name);
      },
    );
  }
}

const specOf = ({ name, description, parameters }: Tool): ToolSpec => ({ name, description, parameters });

const isWanted = ({ only, not }: ServerEntry, name: string): boolean =>
  (only === null || only.includes(name)) && !not.includes(name);

const collision = (name: string, server: string): string =>
  `Two tools of servers would be called ${name}: the second one, of '${server}', is left out.`;

async function failureOf(asking: Promise<void>): Promise<string | null> {
  try {
    await asking;
    return null;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

function lineOf(description: string): string {
  const [line = ''] = description.split('\n');
  return line.length <= LINE ? line : `${line.slice(0, LINE - 1)}…`;
}
