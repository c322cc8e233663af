import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { textTool } from './tool-server.js';

/** How a server of a spec differs from a good one. */
export interface OAuthFaults {
  /** What its metadata say otherwise. */
  readonly metadata?: object | ((base: string) => object);
  /** What the metadata of the resource say otherwise. */
  readonly resource?: object;
  /** How long tokens live, in seconds; absent where the server does not say. */
  readonly life?: number;
  /** Changes the answer that goes to the browser. */
  readonly answer?: (params: URLSearchParams) => void;
  /** How long the token endpoint takes, in milliseconds. */
  readonly pause?: number;
  /** What its tool wants besides. */
  readonly toolScope?: string;
  /** What it answers to a token that is to be revoked; absent where it revokes it. */
  readonly revocation?: { readonly status: number; readonly error?: string; readonly kind?: string };
}

/** A request to the token endpoint. */
export interface TokenRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
  readonly status: number;
}

interface Grant {
  readonly client: string;
  readonly scope: string;
}

interface Code extends Grant {
  readonly challenge: string;
  readonly redirect: string;
}

/**
 * An MCP server with an authorization server, both on one port of loopback: PKCE, exact redirects, and refresh tokens
 * that are good once.
 */
export class OAuthServer {
  readonly base: string;
  /** The address of the MCP server. */
  readonly url: string;
  readonly tokenRequests: TokenRequest[] = [];
  readonly revocations: TokenRequest[] = [];
  readonly registrations: Readonly<Record<string, unknown>>[] = [];
  /** The tokens that came with calls, in order. */
  readonly shown: (string | undefined)[] = [];
  /** All tokens that it ever gave. */
  readonly secrets: string[] = [];
  readonly #server: Server;
  readonly #codes = new Map<string, Code>();
  readonly #access = new Map<string, Grant>();
  readonly #refresh = new Map<string, Grant>();
  #faults: OAuthFaults;

  private constructor(server: Server, faults: OAuthFaults) {
    const address = server.address();
    this.base = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    this.url = `${this.base}/mcp`;
    this.#server = server;
    this.#faults = faults;
    server.on('request', (request, response) => void this.#handle(request, response));
  }

  static async open(faults: OAuthFaults = {}): Promise<OAuthServer> {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return new OAuthServer(server, faults);
  }

  /** The access tokens so far are no longer good. */
  revoke(): void {
    this.#access.clear();
  }

  /** Nor are the refresh tokens. */
  forgetRefreshTokens(): void {
    this.#refresh.clear();
  }

  change(faults: OAuthFaults): void {
    this.#faults = faults;
  }

  close(): Promise<void> {
    return new Promise((done) => {
      this.#server.closeAllConnections();
      this.#server.close(() => done());
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', this.base);
    const text = await bodyOf(request);
    if (pathname === '/mcp') this.#tools(request, response, text);
    else if (pathname === '/.well-known/oauth-protected-resource/mcp')
      json(response, 200, { resource: this.url, authorization_servers: [this.base], ...this.#faults.resource });
    else if (pathname === '/.well-known/oauth-authorization-server') json(response, 200, this.#metadata());
    else if (pathname === '/register') this.#register(response, JSON.parse(text));
    else if (pathname === '/authorize') this.#authorize(response, searchParams);
    else if (pathname === '/revoke') this.#revoke(request, response, new URLSearchParams(text));
    else if (pathname === '/token') {
      await sleep(this.#faults.pause ?? 0);
      this.#token(request, response, new URLSearchParams(text));
    } else json(response, 404, {});
  }

  #metadata(): object {
    const { base } = this;
    const { metadata } = this.#faults;
    return {
      issuer: base,
      authorization_endpoint: `${base}/authorize`,
      token_endpoint: `${base}/token`,
      registration_endpoint: `${base}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
      authorization_response_iss_parameter_supported: true,
      ...(typeof metadata === 'function' ? metadata(base) : metadata),
    };
  }

  #register(response: ServerResponse, client: Readonly<Record<string, unknown>>): void {
    this.registrations.push(client);
    json(response, 201, { ...client, client_id: `client-${this.registrations.length}` });
  }

  #authorize(response: ServerResponse, asked: URLSearchParams): void {
    const code = randomBytes(16).toString('hex');
    const redirect = new URL(asked.get('redirect_uri') ?? '');
    this.#codes.set(code, {
      client: asked.get('client_id') ?? '',
      scope: asked.get('scope') ?? '',
      challenge: asked.get('code_challenge_method') === 'S256' ? (asked.get('code_challenge') ?? '') : 'none',
      redirect: redirect.href,
    });
    redirect.searchParams.set('code', code);
    redirect.searchParams.set('state', asked.get('state') ?? '');
    redirect.searchParams.set('iss', this.base);
    this.#faults.answer?.(redirect.searchParams);
    response.writeHead(302, { location: redirect.href }).end();
  }

  #token({ headers }: IncomingMessage, response: ServerResponse, params: URLSearchParams): void {
    const grant = params.get('grant_type') === 'refresh_token' ? this.#oldGrant(params) : this.#newGrant(params);
    const { authorization } = headers;
    this.tokenRequests.push({ params: Object.fromEntries(params), authorization, status: grant === null ? 400 : 200 });
    if (grant === null)
      json(response, 400, {
        error: 'invalid_grant',
        error_description: `No such grant: ${[...params.values()].join(' ')}`,
      });
    else json(response, 200, this.#newTokens(grant));
  }

  #revoke({ headers }: IncomingMessage, response: ServerResponse, params: URLSearchParams): void {
    const { status: refused = 200, error = '', kind } = this.#faults.revocation ?? {};
    const status = kind === undefined || kind === params.get('token_type_hint') ? refused : 200;
    const { authorization } = headers;
    this.revocations.push({ params: Object.fromEntries(params), authorization, status });
    if (status !== 200)
      return void json(response, status, { error, error_description: [...params.values()].join(' ') });
    this.#access.delete(params.get('token') ?? '');
    this.#refresh.delete(params.get('token') ?? '');
    json(response, 200, {});
  }

  #newTokens(grant: Grant): object {
    const [access_token = '', refresh_token = ''] = [0, 1].map(() => randomBytes(24).toString('hex'));
    const { life } = this.#faults;
    this.secrets.push(access_token, refresh_token);
    this.#access.set(access_token, grant);
    this.#refresh.set(refresh_token, grant);
    const limit = life === undefined ? {} : { expires_in: life };
    return { access_token, refresh_token, token_type: 'Bearer', scope: grant.scope, ...limit };
  }

  #newGrant(params: URLSearchParams): Grant | null {
    const code = params.get('code') ?? '';
    const grant = this.#codes.get(code);
    this.#codes.delete(code);
    const challenge = createHash('sha256')
      .update(params.get('code_verifier') ?? '')
      .digest('base64url');
    const isOwn = grant?.challenge === challenge && grant.redirect === params.get('redirect_uri');
    return isOwn ? grant : null;
  }

  /** A refresh token that comes a second time was stolen: then none of them is good any more. */
  #oldGrant(params: URLSearchParams): Grant | null {
    const token = params.get('refresh_token') ?? '';
    const grant = this.#refresh.get(token) ?? null;
    if (grant === null) this.#refresh.clear();
    this.#refresh.delete(token);
    return grant;
  }

  #tools({ method: verb, headers }: IncomingMessage, response: ServerResponse, text: string): void {
    if (verb !== 'POST') return void response.writeHead(405).end();
    const { id, method } = JSON.parse(text);
    const bearer = /^Bearer (.*)$/.exec(headers.authorization ?? '')?.[1];
    const grant = this.#access.get(bearer ?? '');
    const { toolScope = '' } = this.#faults;
    const isCall = method === 'tools/call';
    if (isCall) this.shown.push(bearer);
    if (grant === undefined) this.#refuse(response, 401, 'scope="read"');
    else if (isCall && toolScope !== '' && !grant.scope.split(' ').includes(toolScope))
      this.#refuse(response, 403, `error="insufficient_scope", scope="${toolScope}"`);
    else if (id === undefined) response.writeHead(202).end();
    else {
      const result = ANSWERS[method];
      const error = { code: -32601, message: 'Method not found' };
      json(response, 200, { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) });
    }
  }

  #refuse(response: ServerResponse, status: number, why: string): void {
    const place = `${this.base}/.well-known/oauth-protected-resource/mcp`;
    response.setHeader('www-authenticate', `Bearer resource_metadata="${place}", ${why}`);
    json(response, status, {});
  }
}

const ANSWERS: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'spec', version: '1' },
  },
  'tools/list': { tools: [textTool('add')] },
  'tools/call': { content: [{ type: 'text', text: 'behind the login' }] },
};

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
