import { HiError } from '../../errors.js';
import { harmlessLine } from '../base/harmless-text.js';
import { isPrivate, type LoginFile, LoginNeeded, type StoredLogin, type StoredTokens } from './login-file.js';
import { renewedTokens } from './tokens-adapter.js';

/** How much of a scope is shown. */
const LONGEST_SCOPE = 200;

/** The login of a connection, and how it reacts to refusals. */
export interface ServerLogin {
  /** The token for the next request; undefined if there is no login. */
  token(): Promise<string | undefined>;
  /** The server rejected the token: resolves when there is a new one. Throws a `HiError` if there is none. */
  unauthorized(): Promise<void>;
  /** The error for a server that keeps refusing, with what the user can do. */
  refused(): HiError;
  /** The error for a server that wants an additional scope, with what the user can do. */
  wants(scope: string | undefined): Promise<HiError>;
}

/**
 * A session's login at a server. It is renewed before it expires, and once if the server refuses it, by one process at
 * a time.
 */
export class SessionLogin implements ServerLogin {
  readonly #server: string;
  readonly #url: string;
  readonly #file: LoginFile;
  readonly #environment: Readonly<Record<string, string | undefined>>;
  #shown: string | null = null;
  #renewing: Promise<StoredTokens> | null = null;

  constructor(server: string, url: string, file: LoginFile, environment: Readonly<Record<string, string | undefined>>) {
    this.#server = server;
    this.#url = url;
    this.#file = file;
    this.#environment = environment;
  }

  async token(): Promise<string | undefined> {
    const tokens = isPrivate(this.#url) ? this.#file.read(this.#url)?.tokens : null;
    if (!tokens) return undefined;
    const shown = isDue(tokens) && tokens.refresh_token !== undefined ? await this.#renew(tokens.access_token) : tokens;
    this.#shown = shown.access_token;
    return shown.access_token;
  }

  async unauthorized(): Promise<void> {
    const tokens = this.#file.read(this.#url)?.tokens;
    if (!tokens) throw new LoginNeeded(this.#server, 'It requires a login.');
    // Another process renewed it in the meantime.
    if (tokens.access_token !== this.#shown) return;
    if (tokens.refresh_token === undefined) throw this.refused();
    await this.#renew(tokens.access_token);
  }

  refused(): HiError {
    return new LoginNeeded(this.#server, 'The login has expired.');
  }

  async wants(scope: string | undefined): Promise<HiError> {
    const login = this.#file.read(this.#url);
    if (!login?.tokens) return new LoginNeeded(this.#server, 'It requires a login.');
    const wanted = wordsOf(scope);
    const granted = wordsOf(login.tokens.scope);
    const named = harmlessLine(wanted.join(' '), LONGEST_SCOPE);
    if (wanted.every((word) => granted.includes(word)))
      return new HiError('network', `It refuses this although the login has the scopes it asks for: '${named}'.`);
    await this.#file.change(this.#url, async (now) => {
      const all = [...new Set([...wordsOf(now?.wanted ?? undefined), ...wanted])].join(' ');
      return { login: { ...(now ?? login), wanted: all }, result: null };
    });
    return new LoginNeeded(this.#server, `It requires a login with more scopes: '${named}'.`);
  }

  /** New tokens in place of the `shown` one, unless another process renewed it in the meantime. */
  async #renew(shown: string): Promise<StoredTokens> {
    this.#renewing ??= this.#file
      .change(this.#url, async (login) => {
        const tokens = login?.tokens;
        if (login === null || !tokens) throw new LoginNeeded(this.#server, 'It requires a login.');
        if (tokens.access_token !== shown && !isDue(tokens)) return { login, result: tokens };
        return await this.#renewed(login);
      })
      .then((tokens) => tokens ?? Promise.reject(this.refused()))
      .finally(() => {
        this.#renewing = null;
      });
    return await this.#renewing;
  }

  async #renewed(login: StoredLogin): Promise<{ login: StoredLogin; result: StoredTokens | null }> {
    // Tokens that cannot be renewed are removed, so that no process tries them again.
    const tokens = await renewedTokens(login, this.#environment);
    return { login: { ...login, tokens }, result: tokens };
  }
}

const isDue = ({ renew_at }: StoredTokens): boolean => renew_at !== undefined && Date.now() >= renew_at;

const wordsOf = (scope: string | undefined): readonly string[] =>
  (scope ?? '').split(/\s+/).filter((word) => word !== '');
