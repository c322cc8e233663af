import type { JsonObject } from '../chat/json.js';
import { HiError } from '../errors.js';
import { monotonic } from '../waits.js';
import type { ServerEntry } from './base/server-entry.js';
import type { CallLimits } from './connection/client.js';
import type { ConnectionDeps } from './connection/destination.js';
import type { ServerConnection } from './connection/server-connection.js';
import type { Failure, Offer, OfferCache, ToolDefinition, ToolPins } from './definitions/definition.js';

/** What the servers of a session share. */
export interface ServerStore {
  readonly cache: OfferCache;
  readonly pins: ToolPins;
  readonly connection: ConnectionDeps;
}

/** A failure that takes longer is remembered. Milliseconds. */
const SLOW_MS = 1500;

/** What is known about one server, whether or not it is running. */
export class KnownServer {
  readonly entry: ServerEntry;
  readonly #store: ServerStore;
  #offer: Offer | null;
  /** Its latest offer in this process. */
  #asked: Offer | null = null;
  #connection: ServerConnection | null = null;
  #hasFailed: boolean;
  /** The failure because of which it is not asked for a while; null for none. */
  readonly failure: Failure | null;

  constructor(entry: ServerEntry, store: ServerStore) {
    this.entry = entry;
    this.#store = store;
    this.#offer = store.cache.read(entry);
    this.failure = store.cache.failure(entry);
    this.#hasFailed = this.failure !== null;
  }

  /** What it offered when last asked; null if it never was. */
  get offer(): Offer | null {
    return this.#offer;
  }

  /** Whether it must be asked before a turn. One that failed is not asked again until it is called. */
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
    this.#store.pins.meet(this.entry, this.#offer);
  }

  /** Remembers a slow failure, so that the next starts do not wait for it again. */
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

  /** Calls a tool, unless its definition differs from the one that was allowed. Throws what the call throws. */
  async call(allowed: ToolDefinition, args: JsonObject, limits: CallLimits): Promise<unknown> {
    // A new session may offer different tools.
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

  /** The messages of a prompt; starts the server if needed. */
  async prompt(name: string, args: Readonly<Record<string, string>>, limits: CallLimits): Promise<unknown> {
    return await withNewSession(async () => (await this.#connected()).prompt(name, args, limits));
  }

  /** The content of a resource; starts the server if needed. */
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

/** Runs `ask`, and runs it again if the session has expired: the connection starts a new one. */
async function withNewSession<Result>(ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (thrown) {
    if (!(thrown instanceof HiError) || !isExpired(thrown.cause)) throw thrown;
    return await ask();
  }
}

// Compared by name, because the class is loaded only with the first connection.
const isExpired = (cause: unknown): boolean => cause instanceof Error && cause.name === 'SessionExpired';

/** Whether a time has passed, in milliseconds since 1970. */
const isPast = (time: number | null): boolean => time !== null && time <= Date.now();

/** The error for a changed tool: the user must see its new definition, which the next call shows. */
function changed({ description, parameters }: ToolDefinition): HiError {
  const definition = JSON.stringify({ description, parameters });
  return new HiError(
    'usage',
    `Not run: the definition of this tool has changed. To use the new one, call it again: ${definition}`,
  );
}

/**
 * The offer with known tools in their old order and new ones after them, so that requests keep their prefix (and its
 * cache).
 */
function inOrder(offer: Offer, before: Offer | null): Offer {
  const known = new Map(before?.tools.map(({ name }, place) => [name, place]));
  const place = ({ name }: ToolDefinition): number => known.get(name) ?? known.size;
  return { ...offer, tools: [...offer.tools].sort((a, b) => place(a) - place(b)) };
}
