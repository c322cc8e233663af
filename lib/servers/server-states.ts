import { dirname } from 'node:path';
import { isJsonObject, parseObject } from '../chat/json.js';
import { makeFolder, readRegularFile, writeAside } from '../disk.js';
import { type ErrorCode, HiError } from '../errors.js';

/**
 * The failures after which another server is asked: what is wrong is the server, the account or the network, not the
 * request.
 */
const OF_THE_SERVER: readonly ErrorCode[] = ['overload', 'network', 'rate', 'quota', 'key'];

export const isOfTheServer = (thrown: unknown): thrown is HiError =>
  thrown instanceof HiError && OF_THE_SERVER.includes(thrown.code);

/** How long a server that failed is passed over, at least, and at most where it asks for longer. Milliseconds. */
const PAUSE = 5 * 60_000;
const LONGEST_PAUSE = 60 * 60_000;

/** What is known of a server by its last failure: `open` if it is passed over, `trial` if it is to be tried once. */
export type ServerState = 'closed' | 'open' | 'trial';

interface Failure {
  readonly at: number;
  readonly until: number;
}

/**
 * Which servers failed lately, in one cache file that all processes share. Read when a server is chosen, written when
 * one fails, and when it answers again. A damaged file counts as empty, and a failed write is ignored: this process
 * then remembers by itself.
 */
export class ServerStates {
  readonly #path: string;
  readonly #now: () => number;
  readonly #changedAt: () => number;
  #failures: Map<string, Failure> | null = null;

  /**
   * `changedAt` is when the configuration was last changed: with another key, a server may answer. Milliseconds since
   * 1970.
   */
  constructor(path: string, now: () => number, changedAt: () => number) {
    this.#path = path;
    this.#now = now;
    this.#changedAt = changedAt;
  }

  of(name: string): ServerState {
    const failure = this.#read().get(name);
    if (failure === undefined || failure.at > this.#now() || failure.at < this.#changedAt()) return 'closed';
    return this.#now() < failure.until ? 'open' : 'trial';
  }

  failed(name: string, { retryAfter }: HiError): void {
    const at = this.#now();
    this.#change((failures) =>
      failures.set(name, { at, until: at + Math.min(Math.max(retryAfter ?? 0, PAUSE), LONGEST_PAUSE) }),
    );
  }

  answered(name: string): void {
    if (this.#read().has(name)) this.#change((failures) => failures.delete(name));
  }

  #read(): Map<string, Failure> {
    this.#failures ??= readFailures(this.#path);
    return this.#failures;
  }

  #change(change: (failures: Map<string, Failure>) => unknown): void {
    const failures = new Map([...this.#read(), ...readFailures(this.#path)]);
    change(failures);
    this.#failures = failures;
    try {
      makeFolder(dirname(this.#path), 0o700);
      const text = JSON.stringify({ failures: Object.fromEntries(failures) });
      writeAside(this.#path, `${text}\n`, { mode: 0o600, private: true, synced: false });
    } catch {
      // The next process finds out by itself.
    }
  }
}

function readFailures(path: string): Map<string, Failure> {
  try {
    const stored = parseObject(readRegularFile(path).toString())?.failures;
    if (!isJsonObject(stored)) return new Map();
    return new Map(
      Object.entries(stored).flatMap(([name, one]) => {
        if (!isJsonObject(one) || typeof one.at !== 'number' || typeof one.until !== 'number') return [];
        return [[name, { at: one.at, until: one.until }] as const];
      }),
    );
  } catch {
    return new Map();
  }
}
