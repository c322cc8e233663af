import { HiError } from '../../errors.js';
import { nodeFetch } from '../base/node-fetch.js';
import { mayLead, needsConsent } from './reach.js';

/** How long one request may take, in milliseconds, and how much of an answer is read, in bytes. */
const TIMEOUT = 30_000;
const LONGEST_ANSWER = 1024 * 1024;

/** Statuses whose answer has no body. */
const EMPTY = [204, 205, 304];

type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** Asks the user whether a login may go to a private address. */
export type AgreesTo = (address: URL) => Promise<boolean>;

/** Throws a `HiError` where the user has to agree to an address and does not. */
export async function requireConsent(server: string, url: URL, agreesTo: AgreesTo): Promise<void> {
  if (!(await needsConsent(server, url)) || (await agreesTo(url))) return;
  throw new HiError('network', `The server asks for a login at a private address: '${url.href}'.`, {
    hint: "If you know it, run 'hi mcp login' on a terminal and agree to it.",
  });
}

/**
 * `fetch` for logins: refuses addresses that the server may not name, and limits the time and the size of the answer. The SDK
 * reads errors only from a complete `Response`.
 */
export function authFetch(
  server: string,
  environment: Readonly<Record<string, string | undefined>>,
  stop?: AbortSignal,
  agreesTo: AgreesTo = async () => false,
): Fetch {
  const fetch = nodeFetch(environment);
  return async (input, init = {}) => {
    const url = new URL(input);
    if (!mayLead(server, url))
      throw new HiError('network', `The server asks for a login at an address that is not allowed: '${url.href}'.`);
    await requireConsent(server, url, agreesTo);
    const limit = AbortSignal.timeout(TIMEOUT);
    const signal = AbortSignal.any([limit, ...(stop ? [stop] : []), ...(init.signal ? [init.signal] : [])]);
    const response = await fetch(url, { ...init, signal });
    const { status, statusText, headers } = response;
    const text = await textOf(response, url);
    return new Response(EMPTY.includes(status) ? null : text, { status, statusText, headers });
  };
}

async function textOf({ body }: Response, url: URL): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  if (body !== null)
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > LONGEST_ANSWER)
        throw new HiError('network', `The answer from '${url.origin}' to the login is longer than 1 MB.`);
    }
  return Buffer.concat(chunks).toString();
}
