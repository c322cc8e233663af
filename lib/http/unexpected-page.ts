import type { IncomingMessage } from 'node:http';
import { HiError } from '../errors.js';
import { mask, shownAddress } from './mask-key.js';
import type { PendingRequest } from './pending-request.js';

type Incoming = Pick<IncomingMessage, 'headers' | 'destroy'>;

/** The error for a web page at an address that should be an API. */
export class WebPage extends HiError {}

/** Throws a `WebPage` if the response is a web page. */
export function refusePage({ url }: PendingRequest, incoming: Incoming): void {
  if (!incoming.headers['content-type']?.startsWith('text/html')) return;
  incoming.destroy();
  throw webPage(url);
}

/** The error for a web page: api_base lacks its path, or the network requires a login. */
export function webPage(url: URL): WebPage {
  return new WebPage('request', `'${url.origin}${url.pathname}' returned a web page.`, {
    hint: 'Check api_base (for a compatible server it usually ends in /v1), and whether the network requires a login.',
  });
}

/** Throws for a redirect, and for a proxy that requires a login. */
export function refuseRedirect(
  { url, proxy }: PendingRequest,
  status: number,
  incoming: Incoming,
  apiKey: string | null,
): void {
  if (proxy !== null && status === 407) {
    incoming.destroy();
    throw new HiError('network', `The proxy '${proxy.host}' requires a name and password.`, {
      hint: 'Put them in the address: HTTPS_PROXY=http://name:password@host:port.',
    });
  }
  const { location } = incoming.headers;
  if (status < 300 || status >= 400 || location === undefined) return;
  incoming.destroy();
  throw new HiError('request', `'${url.origin}' redirects to '${mask(absolute(location, url), apiKey)}'.`, {
    hint: 'Set api_base to the new address.',
  });
}

function absolute(location: string, base: URL): string {
  return URL.canParse(location, base.href) ? shownAddress(new URL(location, base).href) : location;
}
