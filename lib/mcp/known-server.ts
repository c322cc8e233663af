import type { JsonObject } from '../chat/json.js';
import { HiError } from '../errors.js';
import type { ServerEntry } from './base/server-entry.js';
import type { Pins } from './calls/pins.js';
import type { CallLimits } from './connection/client.js';
import type { ConnectionDeps, ServerConnection } from './connection/server-connection.js';
import type { Offer, ToolDefinition } from './definitions/definition.js';
import type { OfferCache } from './definitions/offer-cache.js';

/** What the servers of a session share. */
export interface ServerStore {
  readonly cache: OfferCache;
  readonly pins: Pins;
  readonly connection: ConnectionDeps;
}

/** One server, as far as it is known, whether it runs or not. */
export class KnownServer {
  readonly entry: ServerEntry;
  readonly #store: ServerStore;
  #offer: Offer | null;
  /** What it said when it was last asked here. */
  #asked: Offer | null = null;
  #connection: ServerConnection | null = null;
  #hasFailed = false;

  constructor(entry: ServerEntry, store: ServerStore) {
    this.entry = entry;
    this.#store = store;
    this.#offer = store.cache.read(entry);
  }

  /** What it offers, as it was last asked; null where it never was. */
  get offer(): Offer | null {
    return this.#offer;
  }

  /** Whether it has to be asked before a turn. One that failed is not asked again before it is called. */
  get isOpen(): boolean {
    return !this.#hasFailed && (this.#offer === null || this.#connection?.isStale === true);
  }

  get isRunning(): boolean {
    return this.#connection?.isRunning === true;
  }

  /** Asks it what it offers. Throws a `HiError`. */
  async ask(signal: AbortSignal): Promise<void> {
    this.#hasFailed = true;
    const offer = await (await this.#connected()).offer(signal);
    this.#hasFailed = false;
    if (offer === this.#asked) return;
    this.#asked = offer;
    this.#offer = inOrder(offer, this.#offer);
    this.#store.cache.write(this.entry, this.#offer);
    this.#store.pins.meet(this.entry, this.#offer.tools);
  }

  /** Calls a tool, unless the server describes it in another way than the one that was allowed. Throws what the call throws. */
  async call(allowed: ToolDefinition, args: JsonObject, limits: CallLimits): Promise<unknown> {
    const { name, hash } = allowed;
    await this.ask(limits.signal);
    const now = this.#offer?.tools.find((tool) => tool.name === name);
    if (now === undefined)
      throw new HiError('usage', `The server '${this.entry.name}' has no tool '${name}' any more.`);
    if (now.hash !== hash) throw changed(now);
    return await (await this.#connected()).call(name, args, limits);
  }

  /** The messages of a prompt, after starting the server where that is needed. */
  async prompt(name: string, args: Readonly<Record<string, string>>, limits: CallLimits): Promise<unknown> {
    return await (await this.#connected()).prompt(name, args, limits);
  }

  /** What stands at an address of the server, in the same way. */
  async read(uri: string, limits: CallLimits): Promise<unknown> {
    return await (await this.#connected()).read(uri, limits);
  }

  async close(): Promise<void> {
    await this.#connection?.close();
  }

  async #connected(): Promise<ServerConnection> {
    const { ServerConnection } = await import('./connection/server-connection.js');
    this.#connection ??= new ServerConnection(this.entry, this.#store.connection, this.#offer?.prior ?? null);
    return this.#connection;
  }
}

/** The user has to see it as it is now, which the next call does. */
function changed({ description, parameters }: ToolDefinition): HiError {
  const definition = JSON.stringify({ description, parameters });
  return new HiError(
    'usage',
    `Not run: the tool is another one now. To call it as it is, call it again: ${definition}`,
  );
}

/** The offer with the tools that were known before in their old order, and new ones behind: what was sent stays the beginning of what will be. */
function inOrder(offer: Offer, before: Offer | null): Offer {
  const known = new Map(before?.tools.map(({ name }, place) => [name, place]));
  const place = ({ name }: ToolDefinition): number => known.get(name) ?? known.size;
  return { ...offer, tools: [...offer.tools].sort((a, b) => place(a) - place(b)) };
}
