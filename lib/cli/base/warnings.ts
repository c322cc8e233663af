import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SERVER_TOOL_PREFIX } from '../../chat/request.js';
import type { Config } from '../../config/config.js';
import type { ModelSettings } from '../../config/setting.js';
import { makeFolder, readRegularFile, requireRegularFile } from '../../disk.js';
import { HiError } from '../../errors.js';
import { serverPrefix } from '../../mcp/base/server-entry.js';
import type { Permissions, RuleEntry, RuleSubject } from '../../permission/rules/rules.js';
import type { Settings } from './settings.js';

/** The warnings about the settings that were not shown on this machine before. */
export async function newSettingsWarnings({ warnings, config, paths }: Settings): Promise<readonly string[]> {
  return await newWarnings([...warnings, ...(config === null ? [] : plainHttpWarnings(config))], paths.warned);
}

/**
 * The warnings that were not shown on this machine before; the file at `path` remembers them. Never fails: at worst a
 * warning is shown again.
 */
export async function newWarnings(warnings: readonly string[], path: string): Promise<readonly string[]> {
  if (warnings.length === 0) return [];
  const shown = read(path);
  const fresh = warnings.filter((warning) => !shown.includes(warning));
  if (fresh.length > 0) {
    try {
      makeFolder(dirname(path), 0o700);
      requireRegularFile(path);
      await writeFile(path, JSON.stringify([...shown, ...fresh]), { mode: 0o600 });
    } catch {
      return fresh;
    }
  }
  return fresh;
}

function read(path: string): readonly string[] {
  try {
    const stored: unknown = JSON.parse(readRegularFile(path).toString());
    return Array.isArray(stored) ? stored.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}

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

/** Lets rules name tools of MCP servers, which are not known before a server runs. */
export const SERVER_TOOLS: RuleSubject = {
  name: SERVER_TOOL_PREFIX,
  accessKind: 'server',
  rulesCoverKind: false,
  isFamily: true,
};

/**
 * Notes about rules for tools of servers that are not configured: such a server may be added later, or its name may be
 * misspelt.
 */
export function orphanRules(permissions: Partial<Permissions>, servers: readonly string[]): readonly string[] {
  const known = servers.map(serverPrefix);
  const rules = Object.values(permissions).flatMap((list: readonly RuleEntry[]) => list.map(textOf));
  return rules
    .filter((rule) => rule.startsWith(SERVER_TOOL_PREFIX) && !known.some((prefix) => concerns(rule, prefix)))
    .map((rule) => `The rule '${rule}' names a server that is not configured.`);
}

const textOf = (entry: RuleEntry): string => (typeof entry === 'string' ? entry : entry.rule).trim();

/** Whether a rule may be about a tool whose name begins so. */
function concerns(rule: string, prefix: string): boolean {
  const [name = ''] = rule.split('(');
  return name.startsWith(prefix) || (name.includes('*') && prefix.startsWith(name.slice(0, name.indexOf('*'))));
}
