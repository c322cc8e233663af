import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '../../lib/chat/json.js';
import { dialects } from './vendors.js';

export type VendorName = 'openai' | 'anthropic' | 'gemini' | 'ollama';

/** What a vendor's house is like. */
export interface HouseOptions {
  readonly models?: readonly string[];
  /** The only key it takes; every key when absent. */
  readonly key?: string;
  /** What its models say to everything. */
  readonly text?: string;
  /** The port; any free one if absent. */
  readonly port?: number;
  /** Tokens of context that Ollama has loaded the model with. */
  readonly loaded?: number;
  /** What the list of a server that speaks OpenAI's protocol tells of each model beside its name. */
  readonly told?: JsonObject;
}

/** A vendor on this machine: it lists its models, checks the key, and its models always say the same. */
export interface VendorHouse extends AsyncDisposable {
  readonly url: string;
  /** The address as the vendor's own variable takes it. */
  readonly base: string;
  /** What was asked, as `METHOD /path`. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

const REFUSED = JSON.stringify({ error: { message: 'Incorrect API key provided', type: 'invalid_request_error' } });

/** Opens the house of a vendor on a free port. */
export async function openVendorHouse(vendor: VendorName, options: HouseOptions = {}): Promise<VendorHouse> {
  const { models = ['first-model', 'second-model'], key, text = 'Hello from the house.', port = 0 } = options;
  const asked: string[] = [];
  const server = createServer(async (incoming, response) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of incoming) pieces.push(piece);
    const path = (incoming.url ?? '').split('?')[0] ?? '';
    asked.push(`${incoming.method} ${path}`);
    if (key !== undefined && keyOf(incoming) !== key) {
      response.writeHead(401, { 'content-type': 'application/json' }).end(REFUSED);
      return;
    }
    const told = about(vendor, path, incoming.method ?? '', models, options);
    if (told !== null) {
      response.writeHead('error' in told ? 404 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(told));
      return;
    }
    const { headers, chunks = [] } = dialectOf(vendor).text(text);
    response.writeHead(200, headers).end(chunks.join(''));
  });
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = (): Promise<void> =>
    new Promise((done) => {
      server.closeAllConnections();
      server.close(() => done());
    });
  return { url, base: `${url}${dialectOf(vendor).path}`, asked, close, [Symbol.asyncDispose]: close };
}

function dialectOf(vendor: VendorName) {
  const found = dialects.find(({ provider }) => provider === vendor);
  if (found === undefined) throw new Error(`Nobody speaks like ${vendor}.`);
  return found;
}

function keyOf({ headers }: IncomingMessage): string | undefined {
  const one = headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers.authorization?.replace(/^Bearer /, '');
  return Array.isArray(one) ? one[0] : one;
}

/** What the vendor tells of itself and its models at that path; null where a model is to speak. */
function about(
  vendor: VendorName,
  path: string,
  method: string,
  models: readonly string[],
  { loaded, told }: HouseOptions,
): JsonObject | null {
  if (path === '/api/show') return { model_info: { 'general.architecture': 'x', 'x.context_length': 131_072 } };
  if (path === '/api/ps')
    return {
      models: loaded === undefined ? [] : models.map((name) => ({ name, model: name, context_length: loaded })),
    };
  if (method !== 'GET') return null;
  if (vendor === 'openai' && !path.startsWith(dialectOf(vendor).path)) return { error: { message: 'Not found' } };
  switch (vendor) {
    case 'openai':
      return {
        object: 'list',
        data: models.map((id, at) => ({ ...told, id, object: 'model', created: models.length - at })),
      };
    case 'anthropic':
      return { data: models.map((id) => ({ id, type: 'model' })), has_more: false };
    case 'gemini':
      return {
        models: models.map((name) => ({ name: `models/${name}`, supportedGenerationMethods: ['generateContent'] })),
      };
    case 'ollama':
      return { models: models.map((name) => ({ name, model: name })) };
  }
}
