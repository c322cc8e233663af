import type { Config } from '../../config/config.js';
import type { ModelSettings } from '../../config/setting.js';
import { HiError } from '../../errors.js';

/** This machine by a name or an address that leads nowhere else. */
const LOOPBACK =
  /^(?:localhost|(?:[a-z0-9-]+\.)+localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\])\.?$/;

type Reach = Pick<ModelSettings, 'api_key' | 'api_base'>;

/** The host to which a key is sent over plain http, if it is another machine; null if none. */
function plainHost({ api_key, api_base }: Reach): string | null {
  if (api_base === null) return null;
  if (!URL.canParse(api_base)) return null;
  const { protocol, hostname, host, password } = new URL(api_base);
  if (protocol !== 'http:' || LOOPBACK.test(hostname)) return null;
  return api_key === null && password === '' ? null : host;
}

/** A warning for each host to which a key is sent over plain http; none with `require_tls`, which refuses it. */
export function plainHttpWarnings({ require_tls, small_model, mcpServers, ...main }: Config): readonly string[] {
  if (require_tls) return [];
  const servers = Object.values(mcpServers).flatMap(({ url, headers = {} }) =>
    url ? [serverReach(url, headers)] : [],
  );
  const hosts = [main, ...(small_model === null ? [] : [small_model]), ...servers].flatMap(
    (reach) => plainHost(reach) ?? [],
  );
  return [...new Set(hosts)].map(warning);
}

/** The settings for an MCP server, whose headers are its credentials. */
export const serverReach = (url: string, headers: Readonly<Record<string, string>>): Reach => ({
  api_key: Object.values(headers)[0] ?? null,
  api_base: url,
});

const warning = (host: string): string =>
  `The key is sent to '${host}' over plain http, where others on the network can read it. Use https, or set "require_tls": true to refuse this.`;

/** Throws a `HiError` of code `config` if `require_tls` forbids sending the key to that address. */
export function requireTls(reach: Reach, { require_tls }: Pick<Config, 'require_tls'>): void {
  const host = require_tls ? plainHost(reach) : null;
  if (host === null) return;
  throw new HiError('config', `Not sent: the key would go to '${host}' over plain http, and require_tls is true.`, {
    hint: 'Use an address that starts with https://, or set require_tls to false.',
  });
}
