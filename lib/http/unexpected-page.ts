import type { IncomingMessage } from 'node:http';
import { HiError } from '../errors.js';
import { mask, shownAddress } from './mask-key.js';
import type { PendingRequest } from './pending-request.js';

type Incoming = Pick<IncomingMessage, 'headers' | 'destroy'>;

/** A page for people where an API should be. */
export class WebPage extends HiError {}

/** Throws for a page for people where an API should be. */
export function refusePage({ url }: PendingRequest, incoming: Incoming): void {
  if (!incoming.headers['content-type']?.startsWith('text/html')) return;
  incoming.destroy();
  throw webPage(url);
}

/** The error of such a page: api_base lacks its path, or a network wants a login. */
export function webPage(url: URL): WebPage {
  return new WebPage('request', `'${url.origin}${url.pathname}' returned a web page.`, {
    hint: 'Check api_base (for a compatible server it usually ends in /v1), and whether the network requires a login.',
  });
}

/** Throws for a proxy that requires a login and for a redirect: nothing can be had from the address before they are fixed. */
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
