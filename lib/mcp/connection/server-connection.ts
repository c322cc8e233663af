import type { JsonObject } from '../../chat/json.js';
import { HiError, isAbort } from '../../errors.js';
import { harmlessText } from '../base/harmless-text.js';
import type { ServerEntry } from '../base/server-entry.js';
import type { Offer } from '../definitions/definition.js';
import { readOffer } from '../definitions/read-offer.js';
import type { AskUser } from './adapted-client.js';
import { type CallLimits, type Client, ErrorResponse, SessionExpired, startedTooLate } from './client.js';
import { connect } from './client-adapter.js';
import { type ConnectionDeps, destinationOf } from './destination.js';
import { ServerLog } from './spawn-server.js';

/** How long a server may be idle before it is ended, in milliseconds. */
const IDLE_MS = 10 * 60_000;

/** How much of a server's error message is passed on, in characters. */
const LONGEST_REASON = 4096;

/** One server of a session: started when first needed, restarted once if it dies, and ended with the session. */
export class ServerConnection {
  readonly #entry: ServerEntry;
  readonly #deps: ConnectionDeps;
  readonly #log: ServerLog;
  #client: Promise<Client> | null = null;
  /** What the running server offers; null if it was not asked yet, or reported a change. */
  #offer: Promise<Offer> | null = null;
  #prior: JsonObject | null;
  #expires: number | null = null;
  #idle: NodeJS.Timeout | null = null;
  #running = 0;
  #isClosed = false;

  constructor(entry: ServerEntry, deps: ConnectionDeps, prior: JsonObject | null) {
    this.#entry = entry;
    this.#deps = deps;
    this.#prior = prior;
    this.#log = new ServerLog(deps.logs, entry.name);
  }

  /** Everything the server offers; starts it if needed. Throws a `HiError` with the reason if that fails. */
  async offer(signal: AbortSignal): Promise<Offer> {
    return await this.#use(signal, (client) => {
      if (this.isStale) this.#offer = null;
      this.#offer ??= this.#ask(client);
      return this.#offer;
    });
  }

  /** Whether the server reported a change, or its list has expired. */
  get isStale(): boolean {
    return this.#client !== null && (this.#offer === null || (this.#expires !== null && this.#expires <= Date.now()));
  }

  get isRunning(): boolean {
    return this.#client !== null;
  }

  async #ask(client: Client): Promise<Offer> {
    try {
      const listing = await client.list();
      this.#prior = listing.prior;
      this.#expires = listing.expires;
      return readOffer(listing);
    } catch (thrown) {
      this.#offer = null;
      throw thrown;
    }
  }

  /**
   * Calls a tool. A server that died earlier is restarted. If it dies during the call, the call is not repeated,
   * because it may have been carried out.
   */
  async call(tool: string, args: JsonObject, limits: CallLimits): Promise<unknown> {
    return await this.#use(limits.signal, (client) => client.call(tool, args, limits));
  }

  /** The messages of a prompt. */
  async prompt(name: string, args: Readonly<Record<string, string>>, limits: CallLimits): Promise<unknown> {
    return await this.#use(limits.signal, (client) => client.prompt(name, args, limits));
  }

  /** The content of a resource. */
  async read(uri: string, limits: CallLimits): Promise<unknown> {
    return await this.#use(limits.signal, (client) => client.read(uri, limits));
  }

  /** Ends the server. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#end();
  }

  async #use<Result>(signal: AbortSignal, what: (client: Client) => Promise<Result>): Promise<Result> {
    this.#running += 1;
    if (this.#idle !== null) clearTimeout(this.#idle);
    try {
      return await unlessAborted(signal, this.#connected(signal).then(what));
    } catch (thrown) {
      if (signal.aborted || isAbort(thrown)) throw thrown;
      if (thrown instanceof SessionExpired) await this.#end();
      throw this.#explained(thrown);
    } finally {
      this.#running -= 1;
      if (this.#running === 0 && this.#client !== null) this.#rest();
    }
  }

  #rest(): void {
    this.#idle = setTimeout(() => void this.#end(), IDLE_MS);
    this.#idle.unref();
  }

  #connected(signal: AbortSignal): Promise<Client> {
    if (this.#isClosed) throw new HiError('usage', 'The session has ended.');
    if (this.#client !== null) return this.#client;
    const connecting = this.#connect(signal);
    this.#client = connecting;
    const forget = (): void => {
      if (this.#client !== connecting) return;
      this.#client = null;
      this.#offer = null;
    };
    connecting.then((client) => client.onClose(forget), forget);
    return connecting;
  }

  async #connect(signal: AbortSignal): Promise<Client> {
    const { startTimeout } = this.#entry;
    const destination = await destinationOf(this.#entry, this.#deps, this.#log);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(startTimeout)]);
    const { version, elicit, listens } = this.#deps;
    const ask: AskUser | null =
      elicit === undefined ? null : (question, asking) => elicit(this.#entry.name, question, asking);
    const options = { destination, version, prior: this.#prior, timeout: startTimeout, ask };
    const client = await connect({ ...options, signal: limit }).catch((thrown) => {
      if (signal.aborted || !limit.aborted) throw thrown;
      throw startedTooLate(startTimeout, thrown);
    });
    client.onChange(() => {
      this.#offer = null;
    });
    // A server that cannot report changes is treated as unchanging.
    if (listens) client.listen().catch(() => {});
    return client;
  }

  #explained(thrown: unknown): HiError {
    const { name } = this.#entry;
    const isRefused = thrown instanceof ErrorResponse;
    const { ended, lastLines } = this.#log;
    const reason = ended === null || isRefused || thrown instanceof HiError ? reasonOf(thrown) : ended;
    const message = harmlessText(reason, LONGEST_REASON);
    const printed = isRefused || lastLines === '' ? '' : `\nIt printed:\n${lastLines}`;
    const hint = thrown instanceof HiError && thrown.hint !== null ? { hint: thrown.hint } : {};
    return new HiError('network', `The server '${name}': ${message}${printed}`, { cause: thrown, ...hint });
  }

  async #end(): Promise<void> {
    if (this.#idle !== null) clearTimeout(this.#idle);
    const ending = this.#client;
    this.#client = null;
    this.#offer = null;
    const client = await ending?.catch(() => null);
    await client?.close().catch(() => undefined);
    this.#log.close();
  }
}

/**
 * The message of an error, with its cause if the message does not include it: `fetch failed: connect ECONNREFUSED
 * 127.0.0.1:9`.
 */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const cause = thrown instanceof HiError || !(thrown.cause instanceof Error) ? '' : reasonOf(thrown.cause);
  return cause === '' || thrown.message.includes(cause) ? thrown.message : `${thrown.message}: ${cause}`;
}

/** The same promise, abandoned when `signal` aborts. */
async function unlessAborted<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new HiError('interrupted', 'Interrupted.'));
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
  });
  // A late rejection is ignored.
  promise.catch(() => {});
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
