import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type JsonObject, parseObject } from '../../chat/json.js';
import { makeFolder, readRegularFile, writeAside } from '../../disk.js';
import { HiError } from '../../errors.js';
import { privateHost } from '../../http/address.js';

/** The access token, and the refresh token that renews it. */
export interface StoredTokens {
  readonly access_token: string;
  readonly refresh_token?: string;
  /** Their scope, if the authorization server named it. */
  readonly scope?: string;
  /** When to renew them, in milliseconds since 1970; absent if they do not expire. */
  readonly renew_at?: number;
}

/** A login at an MCP server. */
export interface StoredLogin {
  /** The address of the server. The tokens are sent only there. */
  readonly url: string;
  /** The address of the authorization server that issued everything here. */
  readonly authorization_server: string;
  /** The resource that the tokens are for, as the MCP server names itself; null if it does not. */
  readonly resource: string | null;
  /** hi's client registration at the authorization server. */
  readonly client: JsonObject;
  /** The redirect address of the browser. */
  readonly redirect: string;
  /** Null before the first login completes, and after one has expired. */
  readonly tokens: StoredTokens | null;
  /** An additional scope that the server wanted; the next login requests it. */
  readonly wanted: string | null;
}

/** Runs `work` while no other process runs its own for a file of this name. */
export type Exclusive = <Result>(folder: string, name: string, work: () => Promise<Result>) => Promise<Result>;

/** The login at one server, in a file that only the user can read. */
export class LoginFile {
  readonly #folder: string;
  readonly #name: string;
  readonly #exclusive: Exclusive;

  constructor(folder: string, server: string, exclusive: Exclusive) {
    this.#folder = folder;
    this.#name = encodeURIComponent(server);
    this.#exclusive = exclusive;
  }

  /** The login at the server with this address; null if there is none. */
  read(url: string): StoredLogin | null {
    const stored = this.#stored();
    return stored?.url === url ? stored : null;
  }

  #stored(): StoredLogin | null {
    try {
      const stored = parseObject(readRegularFile(this.#path).toString());
      return isLogin(stored) ? stored : null;
    } catch {
      return null;
    }
  }

  /** Changes the login under a lock. `change` may make a request. Resolves to what it returns. */
  async change<Result>(url: string, change: (login: StoredLogin | null) => Promise<Changed<Result>>): Promise<Result> {
    makeFolder(this.#folder, 0o700);
    return await this.#exclusive(this.#folder, this.#name, async () => {
      const { login, result } = await change(this.read(url));
      const text = `${JSON.stringify(login, null, 2)}\n`;
      writeAside(this.#path, text, { mode: 0o600, private: true, synced: true });
      return result;
    });
  }

  /**
   * Removes the login, after waiting for any process that renews it. Null if there was none. A file that cannot be read
   * is removed too.
   */
  async take(): Promise<{ readonly login: StoredLogin | null } | null> {
    if (!existsSync(this.#path)) return null;
    return await this.#exclusive(this.#folder, this.#name, async () => {
      const login = this.#stored();
      rmSync(this.#path, { force: true });
      return { login };
    });
  }

  get #path(): string {
    return join(this.#folder, `${this.#name}.json`);
  }
}

/** The new login, and the result of the change. */
interface Changed<Result> {
  readonly login: StoredLogin;
  readonly result: Result;
}

/** Whether a stored value is a login. The file is hi's own: it may be truncated, but not hostile. */
function isLogin(stored: unknown): stored is StoredLogin {
  if (!isJsonObject(stored)) return false;
  const { url, authorization_server, client, tokens } = stored;
  const hasTokens = tokens === null || (isJsonObject(tokens) && typeof tokens.access_token === 'string');
  return typeof url === 'string' && typeof authorization_server === 'string' && isJsonObject(client) && hasTokens;
}

/** The server requires a login. The message says how. */
export class LoginNeeded extends HiError {
  constructor(server: string, why: string) {
    super('network', `${why} ${whatToDo(server)}`);
  }
}

const whatToDo = (server: string): string =>
  /^https?:\/\//.test(server)
    ? `Add it with a name, then log in: hi mcp add NAME ${server}`
    : `Run: hi mcp login ${/^[\w.-]+$/.test(server) ? server : JSON.stringify(server)}`;

/** Names and addresses of this machine. */
const LOOPBACK = /^(?:localhost|[a-z0-9.-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

const isLoopback = (url: URL): boolean => LOOPBACK.test(url.hostname);

/** Whether secrets can be sent there without others on the network reading them. */
export function isPrivate(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const url = new URL(address);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
}

/**
 * Whether hi may use an address that the server named for its login: over https, or on the server's own host. A remote
 * server may not direct hi to services on this machine.
 */
export function mayLead(server: string, to: URL): boolean {
  const from = new URL(server);
  if (to.origin === from.origin) return true;
  if (isLoopback(to)) return isLoopback(from) && ['http:', 'https:'].includes(to.protocol);
  return to.protocol === 'https:';
}

/**
 * Whether the user has to agree before hi goes there: an address on this machine or in a private network (of a router,
 * of the cloud's own services) that a server elsewhere names. Not its own host, which the user configured.
 */
export async function needsConsent(server: string, to: URL): Promise<boolean> {
  const from = new URL(server);
  if (to.hostname === from.hostname || (isLoopback(from) && isLoopback(to))) return false;
  return await privateHost(to);
}
