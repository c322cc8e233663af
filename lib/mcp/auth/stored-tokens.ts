import type { StoredTokens } from './login-file.js';

/** How long before they expire tokens are renewed, in milliseconds. Short-lived ones are renewed in the last tenth of their life. */
const EARLY = 60_000;

/** Tokens as issued by an authorization server. */
interface GivenTokens {
  readonly access_token: string;
  readonly refresh_token?: string | undefined;
  readonly scope?: string | undefined;
  /** In seconds. */
  readonly expires_in?: number | undefined;
}

/** Converts tokens to their stored form. */
export function storedTokens({ access_token, refresh_token, scope, expires_in }: GivenTokens): StoredTokens {
  const life = (expires_in ?? 0) * 1000;
  return {
    access_token,
    ...(refresh_token !== undefined && { refresh_token }),
    ...(scope !== undefined && { scope }),
    ...(life > 0 && { renew_at: Date.now() + life - Math.min(EARLY, life / 10) }),
  };
}
