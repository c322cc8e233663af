import type { Agent, IncomingMessage, RequestOptions } from 'node:http';
import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { sizeText } from '../chat/text.js';
import { HiError, systemCode } from '../errors.js';
import { agentFor, privateHost, proxyFor, publicLookup, withoutPassword } from './address.js';
import { decompressed } from './body.js';

/** A downloaded resource. */
interface Download {
  readonly bytes: Buffer;
  /** Its address, after all redirects. */
  readonly url: URL;
  /** The `content-type`, empty if the server sends none. */
  readonly type: string;
}

/** The limits of a download. */
interface DownloadOptions {
  /** The maximum size, in bytes. */
  readonly limit: number;
  /** How long the server may stay silent, in milliseconds. */
  readonly idleTimeout: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

const MOST_REDIRECTS = 5;

/**
 * Fetches an address that the user named. Follows redirects, but not from the web to a private address: a page must not
 * choose what is read from the user's network. Throws a `HiError` of code `network`, and an abort error when stopped.
 */
export async function download(address: string, options: DownloadOptions): Promise<Download> {
  let url = new URL(address);
  const isPrivate = await privateHost(url);
  for (let redirects = 0; ; redirects += 1) {
    const isGuarded = redirects > 0 && !isPrivate;
    if (isGuarded && (await privateHost(url)))
      throw failed(
        address,
        `It redirects to the private address '${url.host}'.`,
        'To fetch it, give that address itself',
      );
    const response = await get(url, address, options, isGuarded);
    const status = response.statusCode ?? 0;
    const { location } = response.headers;
    if (status >= 300 && status < 400 && location !== undefined) {
      response.destroy();
      if (redirects === MOST_REDIRECTS) throw failed(address, `It redirects more than ${MOST_REDIRECTS} times.`);
      url = nextUrl(address, location, url);
      continue;
    }
    if (status < 200 || status > 299) {
      response.destroy();
      throw failed(address, `The server answered ${status} ${response.statusMessage ?? ''}`.trimEnd());
    }
    return { bytes: await read(response, address, options), url, type: response.headers['content-type'] ?? '' };
  }
}

function nextUrl(address: string, location: string, from: URL): URL {
  const url = URL.canParse(location, from.href) ? new URL(location, from.href) : null;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw failed(address, `It redirects to '${location.slice(0, 200)}', which is not a web address.`);
}

async function get(
  url: URL,
  address: string,
  { env, signal, idleTimeout }: DownloadOptions,
  isGuarded: boolean,
): Promise<IncomingMessage> {
  const proxy = proxyFor(url, env);
  const agent: Agent | null = proxy === null ? null : await agentFor(url, proxy, signal);
  const request = url.protocol === 'https:' ? requestSecure : requestPlain;
  const settings: RequestOptions = {
    signal,
    timeout: idleTimeout,
    headers: { 'user-agent': 'hi', accept: '*/*', 'accept-encoding': 'gzip, deflate, br' },
    ...(agent !== null && { agent }),
    ...(isGuarded && agent === null && { lookup: publicLookup }),
  };
  return await new Promise((resolve, reject) => {
    let incoming: IncomingMessage | null = null;
    const outgoing = request(url, settings, (response) => {
      incoming = response;
      resolve(response);
    });
    outgoing.on('timeout', () => (incoming ?? outgoing).destroy(failed(address, silence(idleTimeout))));
    outgoing.on('error', (error) => reject(signal.aborted ? signal.reason : reasonOf(error, address, url)));
    outgoing.end();
  });
}

async function read(response: IncomingMessage, address: string, options: DownloadOptions): Promise<Buffer> {
  const { limit, signal } = options;
  const headers = new Headers();
  const encoding = response.headers['content-encoding'];
  if (encoding !== undefined) headers.set('content-encoding', encoding);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of decompressed(response, headers)) {
      size += chunk.length;
      if (size > limit) throw failed(address, `It is larger than the limit of ${sizeText(limit)}.`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : reasonOf(error, address, new URL(address));
  } finally {
    response.destroy();
  }
  return Buffer.concat(chunks);
}

const silence = (idleTimeout: number): string => `The server sent nothing for ${Math.round(idleTimeout / 1000)} s.`;

function reasonOf(thrown: unknown, address: string, { host }: URL): HiError {
  if (thrown instanceof HiError) return thrown;
  const code = systemCode(thrown);
  if (code === 'ECONNREFUSED') return failed(address, `Nothing is listening at '${host}'.`);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return failed(address, `Host not found: '${host}'.`);
  if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ECONNRESET')
    return failed(address, 'The connection was lost.');
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return failed(address, `${message.replace(/\.$/, '')}.`, undefined, thrown);
}

function failed(address: string, reason: string, remedy = 'Check the address', cause?: unknown): HiError {
  const sentence = reason.endsWith('.') ? reason : `${reason}.`;
  return new HiError('network', `Cannot fetch '${withoutPassword(address)}': ${sentence}`, {
    hint: `${remedy}; nothing was sent to the model.`,
    cause,
  });
}
