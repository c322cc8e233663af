import { privateHost } from '../../http/address.js';

/** Names and addresses of this machine. */
const LOOPBACK = /^(?:localhost|[a-z0-9.-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

const isLoopback = (url: URL): boolean => LOOPBACK.test(url.hostname);

/** Whether secrets can be sent there without others on the network reading them. */
export function isPrivate(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const url = new URL(address);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
}

/**
 * Whether hi may use an address that the server named for its login: over https, or on the server's own host. A remote server may not direct hi to services
 * on this machine.
 */
export function mayLead(server: string, to: URL): boolean {
  const from = new URL(server);
  if (to.origin === from.origin) return true;
  if (isLoopback(to)) return isLoopback(from) && ['http:', 'https:'].includes(to.protocol);
  return to.protocol === 'https:';
}

/**
 * Whether the user has to agree before hi goes there: an address on this machine or in a private network (of a router, of the cloud's own services) that a
 * server elsewhere names. Not its own host, which the user configured.
 */
export async function needsConsent(server: string, to: URL): Promise<boolean> {
  const from = new URL(server);
  if (to.hostname === from.hostname || (isLoopback(from) && isLoopback(to))) return false;
  return await privateHost(to);
}
