import type { LookupAddress, LookupOptions } from 'node:dns';
import type { BlockList } from 'node:net';

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
  const net = process.getBuiltinModule('node:net');
  if (list === null) {
    list = new net.BlockList();
    for (const [network, bits] of PRIVATE) list.addSubnet(network, bits, network.includes(':') ? 'ipv6' : 'ipv4');
  }
  // An IPv4-mapped IPv6 address counts as its IPv4 address.
  const [, inner = address] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  return list.check(inner, net.isIPv6(inner) ? 'ipv6' : 'ipv4');
}

/** True if the host is on this machine or a private network. False for a name that cannot be resolved. */
export async function privateHost({ hostname }: URL): Promise<boolean> {
  const name = hostname.replace(/^\[|\]$/g, '');
  if (process.getBuiltinModule('node:net').isIP(name) !== 0) return isPrivateAddress(name);
  try {
    const addresses = await process.getBuiltinModule('node:dns').promises.lookup(name, { all: true });
    return addresses.some(({ address }) => isPrivateAddress(address));
  } catch {
    return false;
  }
}

type Found = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

/** Resolves a name for a connection. Fails for a name that leads to a private address since it was checked. */
export function publicLookup(name: string, options: LookupOptions, found: Found): void {
  process.getBuiltinModule('node:dns').lookup(name, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return found(error, []);
    if (addresses.some(({ address }) => isPrivateAddress(address)))
      return found(new Error(`'${name}' is a private address`), []);
    const [first] = addresses;
    return options.all || first === undefined ? found(null, addresses) : found(null, first.address, first.family);
  });
}
