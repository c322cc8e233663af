import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { systemCode } from '../../errors.js';

const PAGE = 'callback';

/** The page has no links and runs no scripts. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  connection: 'close',
};

/** Listens on this machine for the browser's redirect after a login. */
export class RedirectListener {
  /** The redirect address, as sent to the authorization server. */
  readonly url: string;
  readonly #server: Server;
  #answer: (params: URLSearchParams) => void = () => {};
  #state = '';

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
    server.on('request', (request, response) => this.#handle(request, response));
  }

  /** Listens on this port, 0 for any. Null if another program uses it. */
  static async open(port: number, host: '127.0.0.1' | 'localhost'): Promise<RedirectListener | null> {
    const server = createServer();
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, resolve);
      });
    } catch (thrown) {
      if (['EADDRINUSE', 'EACCES'].includes(systemCode(thrown) ?? '')) return null;
      throw thrown;
    }
    const address = server.address();
    const bound = typeof address === 'object' && address !== null ? address.port : port;
    return new RedirectListener(server, `http://${host}:${bound}/${PAGE}`);
  }

  /** Resolves to the authorization server's answer to the login with this state. Other requests are refused. */
  answerTo(state: string): Promise<URLSearchParams> {
    this.#state = state;
    return new Promise((resolve) => {
      this.#answer = resolve;
    });
  }

  /** Accepts the address at which a browser on another machine ended. False if it does not belong to this login. */
  take(text: string): boolean {
    const pasted = text.trim();
    if (!URL.canParse(pasted)) return false;
    const url = new URL(pasted);
    return url.origin + url.pathname === this.url && this.#accept(url.searchParams);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #handle({ method, url = '' }: IncomingMessage, response: ServerResponse): void {
    const asked = URL.canParse(url, this.url) ? new URL(url, this.url) : null;
    const isAnswer = method === 'GET' && asked?.pathname === `/${PAGE}` && this.#accept(asked.searchParams);
    response.writeHead(isAnswer ? 200 : 400, HEADERS);
    response.end(
      isAnswer
        ? '<title>hi</title><p>hi received the login. You can close this window.</p>'
        : '<title>hi</title><p>This does not answer the login that hi is waiting for.</p>',
    );
  }

  #accept(params: URLSearchParams): boolean {
    if (this.#state === '' || params.get('state') !== this.#state) return false;
    this.#answer(params);
    return true;
  }
}
