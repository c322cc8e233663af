import type { LookupAddress, LookupOptions } from 'node:dns';
import type { BlockList } from 'node:net';

/** Networks that are not the web: this machine, private ones, links, and what is reserved. */
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
  // An address of version 4 in the form of version 6 is the former.
  const [, inner = address] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  return list.check(inner, net.isIPv6(inner) ? 'ipv6' : 'ipv4');
}

/** Whether a host leads to this machine or a private network. A name that cannot be resolved does not. */
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

/** Resolves a name for a connection, and fails for one that has become private since it was looked at. */
export function publicLookup(name: string, options: LookupOptions, found: Found): void {
  process.getBuiltinModule('node:dns').lookup(name, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return found(error, []);
    if (addresses.some(({ address }) => isPrivateAddress(address)))
      return found(new Error(`'${name}' is a private address`), []);
    const [first] = addresses;
    return options.all || first === undefined ? found(null, addresses) : found(null, first.address, first.family);
  });
}
