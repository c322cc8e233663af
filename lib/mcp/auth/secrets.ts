import type { JsonObject } from '../../chat/json.js';
import { HiError, isAbort } from '../../errors.js';
import { harmlessLine } from '../base/harmless-text.js';
import type { StoredLogin } from './login-file.js';

/** hi's client registration at an authorization server. */
export interface ClientInformation {
  readonly client_id: string;
  readonly client_secret?: string;
  /** The authorization server it belongs to. */
  readonly issuer?: string;
}

/** The stored client, with all stored fields. */
export function asClient(stored: JsonObject): ClientInformation {
  const { client_id, client_secret, issuer } = stored;
  return {
    ...stored,
    client_id: String(client_id),
    ...(typeof client_secret === 'string' && { client_secret }),
    ...(typeof issuer === 'string' && { issuer }),
  };
}

/** The secrets in a login. */
export const secretsOf = ({ client, tokens }: StoredLogin): readonly string[] =>
  [client.client_secret, tokens?.access_token, tokens?.refresh_token].filter(
    (secret): secret is string => typeof secret === 'string' && secret !== '',
  );

/** How much of an authorization server's message is quoted. */
const LONGEST_QUOTE = 300;

/**
 * An error of a login, safe to show. The authorization server's message may repeat what it was sent, and is stored in the history: secrets and raw answers
 * are removed from it. The cause is left out for the same reason.
 */
export function withoutSecrets(thrown: unknown, secrets: readonly string[], begin: string): unknown {
  if (thrown instanceof HiError || isAbort(thrown)) return thrown;
  const [said = ''] = reasonOf(thrown).split(/Raw body:|Invalid OAuth error response/);
  const shown = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), said);
  const quoted = harmlessLine(shown, LONGEST_QUOTE);
  return new HiError('network', `${begin}: ${quoted === '' ? 'its answer cannot be read.' : quoted}`);
}

function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const code: unknown = Reflect.get(thrown, 'code');
  const isOAuth = thrown.name === 'OAuthError' && typeof code === 'string';
  return isOAuth && !thrown.message.includes(code) ? `${code}: ${thrown.message}` : thrown.message;
}
