import type { Vendor } from './vendor.js';

/** Whether an address is the vendor's own, with any path. True for null. */
export function isOwnAddress({ ownHosts }: Pick<Vendor, 'ownHosts'>, address: string | null): boolean {
  if (address === null) return true;
  const { hostname, port } = new URL(address);
  const host = hostname.replace(/\.$/, '');
  return port === '' && ownHosts.some((own) => host === own || host.endsWith(`.${own}`));
}
