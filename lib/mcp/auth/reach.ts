/** This machine, by the names and addresses that lead nowhere else. */
const LOOPBACK = /^(?:localhost|[a-z0-9.-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

const isLoopback = (url: URL): boolean => LOOPBACK.test(url.hostname);

/** Whether secrets can be sent there without others reading them on the way. */
export function isPrivate(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const url = new URL(address);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
}

/**
 * Whether an address that the server itself gave may be asked for its login: over https, or where the server is. Nobody from elsewhere may lead hi to what
 * runs on this machine.
 */
export function mayLead(server: string, to: URL): boolean {
  const from = new URL(server);
  if (to.origin === from.origin) return true;
  if (isLoopback(to)) return isLoopback(from) && ['http:', 'https:'].includes(to.protocol);
  return to.protocol === 'https:';
}
