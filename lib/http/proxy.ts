import type { Agent } from 'node:http';
import { HiError } from '../errors.js';
import { mask } from './mask-key.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The agent that sends requests for an address through a proxy: HTTPS through a tunnel, plain HTTP to the proxy itself. `signal` closes the connection
 * to the proxy, which the request does not know until the proxy has answered.
 */
export async function agentFor(url: URL, proxy: URL, signal: AbortSignal): Promise<Agent> {
  // Loads the libraries only when there is a proxy.
  if (url.protocol === 'https:') return new (await import('https-proxy-agent')).HttpsProxyAgent(proxy, { signal });
  return new (await import('http-proxy-agent')).HttpProxyAgent(proxy, { signal });
}

/**
 * The proxy for an address by `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` in either case; null if there is none or the address is exempt.
 * Throws a `HiError` for a proxy that is not a valid address.
 */
export function proxyFor(url: URL, env: Environment): URL | null {
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const value = (env[name.toLowerCase()] ?? env[name])?.trim();
  if (!value || isExempt(url, env.no_proxy ?? env.NO_PROXY ?? '')) return null;
  const address = value.includes('://') ? value : `http://${value}`;
  if (/^socks/i.test(address)) {
    throw new HiError(
      'config',
      `${name} is a SOCKS proxy, which hi does not support: '${mask(value, passwordOf(value))}'.`,
      {
        hint: `Set ${name} to an HTTP proxy, or exempt the host with NO_PROXY.`,
      },
    );
  }
  if (URL.canParse(address)) return new URL(address);
  throw new HiError('config', `${name} is not an address: '${mask(value, passwordOf(value))}'.`, {
    hint: `Set ${name} to something like http://proxy.example:8080.`,
  });
}

/** Reads NO_PROXY like curl: a name includes its subdomains, a leading dot or `*.` is ignored, a port limits the entry to it, `*` exempts all hosts. */
function isExempt(url: URL, list: string): boolean {
  const host = url.hostname.toLowerCase().replace(/^\[|\]$/g, '');
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const [, given = entry, only] = /^(?:\*?\.)?(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [];
      const name = given.replace(/^\[|\]$/g, '');
      return (only === undefined || only === port) && (host === name || host.endsWith(`.${name}`));
    });
}

function passwordOf(value: string): string | null {
  return /:([^:@/]+)@/.exec(value)?.[1] ?? null;
}
