import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { lookup as lookupAll } from 'node:dns/promises';
import type { Agent } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { HiError } from '../errors.js';
import { mask } from './failures.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The agent that sends requests for an address through a proxy: HTTPS through a tunnel, plain HTTP to the proxy itself.
 * `signal` closes the connection to the proxy, which the request does not know until the proxy has answered.
 */
export async function agentFor(url: URL, proxy: URL, signal: AbortSignal): Promise<Agent> {
  // Loads the libraries only when there is a proxy.
  if (url.protocol === 'https:') return new (await import('https-proxy-agent')).HttpsProxyAgent(proxy, { signal });
  return new (await import('http-proxy-agent')).HttpProxyAgent(proxy, { signal });
}

/**
 * The proxy for an address by `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` in either case; null if there is none or the
 * address is exempt. Throws a `HiError` for a proxy that is not a valid address.
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

/**
 * Reads NO_PROXY like curl: a name includes its subdomains, a leading dot or `*.` is ignored, a port limits the entry
 * to it, `*` exempts all hosts.
 */
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

/** True for an address of this machine or the local network, where the server is probably the user's own. */
export function isNear(address: string): boolean {
  const host = URL.canParse(address) ? new URL(address).hostname : address;
  if (host.startsWith('[')) return NEAR_6.test(host);
  return !host.includes('.') || NEAR.test(host);
}

const NEAR =
  /^(?:127|10)\.\d+\.\d+\.\d+$|^192\.168\.|^172\.(?:1[6-9]|2\d|3[01])\.|^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|^169\.254\.|\.(?:local|lan|internal|home\.arpa|ts\.net)$/;

/** Loopback, link-local and unique local addresses (RFC 4291, RFC 4193), and the IPv4 ones above in their IPv6 form. */
const NEAR_6 = /^\[(?:::1|fe[89ab][0-9a-f]:.*|f[cd][0-9a-f]{2}:.*|::ffff:(?:7f|0?a|c0a8|a9fe)[0-9a-f]*:.*)\]$/i;

/** Networks that are not part of the public internet: loopback, private, link-local and reserved ones. */
const PRIVATE = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
  ['::', 127],
  ['64:ff9b::', 96],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const;

let list: BlockList | null = null;

function isPrivateAddress(address: string): boolean {
  if (list === null) {
    list = new BlockList();
    for (const [network, bits] of PRIVATE) list.addSubnet(network, bits, network.includes(':') ? 'ipv6' : 'ipv4');
  }
  // An IPv4-mapped IPv6 address counts as its IPv4 address.
  const [, inner = address] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  return list.check(inner, isIPv6(inner) ? 'ipv6' : 'ipv4');
}

/** True if the host is on this machine or a private network. False for a name that cannot be resolved. */
export async function privateHost({ hostname }: URL): Promise<boolean> {
  const name = hostname.replace(/^\[|\]$/g, '');
  if (isIP(name) !== 0) return isPrivateAddress(name);
  try {
    const addresses = await lookupAll(name, { all: true });
    return addresses.some(({ address }) => isPrivateAddress(address));
  } catch {
    return false;
  }
}

type Found = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

/** Resolves a name for a connection. Fails for a name that leads to a private address since it was checked. */
export function publicLookup(name: string, options: LookupOptions, found: Found): void {
  lookup(name, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return found(error, []);
    if (addresses.some(({ address }) => isPrivateAddress(address)))
      return found(new Error(`'${name}' is a private address`), []);
    const [first] = addresses;
    return options.all || first === undefined ? found(null, addresses) : found(null, first.address, first.family);
  });
}

/** A web address without its user name and password. */
export function withoutPassword(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.username === '' && url.password === '') return address;
  url.username = '';
  url.password = '';
  return url.href;
}
