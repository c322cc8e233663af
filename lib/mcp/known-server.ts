import type { JsonObject } from '../chat/json.js';
import { monotonic } from '../clock.js';
import { HiError } from '../errors.js';
import type { ServerEntry } from './base/server-entry.js';
import type { ToolPins } from './calls/tool-pins.js';
import type { CallLimits } from './connection/client.js';
import type { ConnectionDeps } from './connection/connection-deps.js';
import type { ServerConnection } from './connection/server-connection.js';
import type { Offer, ToolDefinition } from './definitions/definition.js';
import type { Failure, OfferCache } from './definitions/offer-cache.js';

/** What the servers of a session share. */
export interface ServerStore {
  readonly cache: OfferCache;
  readonly pins: ToolPins;
  readonly connection: ConnectionDeps;
}

/** A failure that takes longer is remembered. Milliseconds. */
const SLOW_MS = 1500;

/** One server, as far as it is known, whether it runs or not. */
export class KnownServer {
  readonly entry: ServerEntry;
  readonly #store: ServerStore;
  #offer: Offer | null;
  /** What it said when it was last asked here. */
  #asked: Offer | null = null;
  #connection: ServerConnection | null = null;
  #hasFailed: boolean;
  /** Why it is not asked for a while; null where it is. */
  readonly failure: Failure | null;

  constructor(entry: ServerEntry, store: ServerStore) {
    this.entry = entry;
    this.#store = store;
    this.#offer = store.cache.read(entry);
    this.failure = store.cache.failure(entry);
    this.#hasFailed = this.failure !== null;
  }

  /** What it offers, as it was last asked; null where it never was. */
  get offer(): Offer | null {
    return this.#offer;
  }

  /** Whether it has to be asked before a turn. One that failed is not asked again before it is called. */
  get isOpen(): boolean {
    if (this.#hasFailed) return false;
    if (this.#offer === null) return true;
    return this.isRunning ? this.#connection?.isStale === true : isPast(this.#offer.expires);
  }

  get isRunning(): boolean {
    return this.#connection?.isRunning === true;
  }

  /** Asks it what it offers. Throws a `HiError`. */
  async ask(signal: AbortSignal): Promise<void> {
    this.#hasFailed = true;
    const offer = await this.#offerNow(signal);
    this.#hasFailed = false;
    if (offer === this.#asked) return;
    this.#asked = offer;
    this.#offer = inOrder(offer, this.#offer);
    this.#store.cache.write(this.entry, this.#offer);
    this.#store.pins.meet(this.entry, this.#offer.tools);
  }

  /** A failure that took long is remembered: every start would wait for it again. */
  async #offerNow(signal: AbortSignal): Promise<Offer> {
    const began = monotonic();
    try {
      return await (await this.#connected()).offer(signal);
    } catch (thrown) {
      const message = thrown instanceof Error ? (thrown.message.split('\n')[0] ?? '') : String(thrown);
      if (!signal.aborted && monotonic() - began > SLOW_MS)
        this.#store.cache.fail(this.entry, { at: Date.now(), message });
      throw thrown;
    }
  }

  /** Calls a tool, unless the server describes it in another way than the one that was allowed. Throws what the call throws. */
  async call(allowed: ToolDefinition, args: JsonObject, limits: CallLimits): Promise<unknown> {
    // What a new session offers is looked at again.
    return await withNewSession(() => this.#call(allowed, args, limits));
  }

  async #call(allowed: ToolDefinition, args: JsonObject, limits: CallLimits): Promise<unknown> {
    const { name, hash } = allowed;
    await this.ask(limits.signal);
    const now = this.#offer?.tools.find((tool) => tool.name === name);
    if (now === undefined)
      throw new HiError('usage', `The server '${this.entry.name}' no longer has a tool '${name}'.`);
    if (now.hash !== hash) throw changed(now);
    return await (await this.#connected()).call(name, args, limits);
  }

  /** The messages of a prompt, after starting the server where that is needed. */
  async prompt(name: string, args: Readonly<Record<string, string>>, limits: CallLimits): Promise<unknown> {
    return await withNewSession(async () => (await this.#connected()).prompt(name, args, limits));
  }

  /** What stands at an address of the server, in the same way. */
  async read(uri: string, limits: CallLimits): Promise<unknown> {
    return await withNewSession(async () => (await this.#connected()).read(uri, limits));
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

/** What `ask` resolves to, asked once more where the session has expired: the connection makes a new one. */
async function withNewSession<Result>(ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (thrown) {
    if (!(thrown instanceof HiError) || !isExpired(thrown.cause)) throw thrown;
    return await ask();
  }
}

// By its name: the class is in a part that is loaded with the first connection.
const isExpired = (cause: unknown): boolean => cause instanceof Error && cause.name === 'SessionExpired';

/** Whether a time has come, in milliseconds since 1970. */
const isPast = (time: number | null): boolean => time !== null && time <= Date.now();

/** The user has to see it as it is now, which the next call does. */
function changed({ description, parameters }: ToolDefinition): HiError {
  const definition = JSON.stringify({ description, parameters });
  return new HiError(
    'usage',
    `Not run: the definition of this tool has changed. To call it with the new one, call it again: ${definition}`,
  );
}

/** The offer with the tools that were known before in their old order, and new ones behind: what was sent stays the beginning of what will be. */
function inOrder(offer: Offer, before: Offer | null): Offer {
  const known = new Map(before?.tools.map(({ name }, place) => [name, place]));
  const place = ({ name }: ToolDefinition): number => known.get(name) ?? known.size;
  return { ...offer, tools: [...offer.tools].sort((a, b) => place(a) - place(b)) };
}
