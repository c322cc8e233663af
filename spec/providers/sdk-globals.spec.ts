import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Ollama } from 'ollama';
import OpenAI from 'openai';
import { type Fetch, makeFetch } from '../../lib/http/fetch.js';
import { settingsFor } from '../support/providers.js';
import { type SeenRequest, type VendorAnswer, vendorServer } from '../support/vendor-server.js';
import { dialects } from '../support/vendors.js';

// What `usePlainGlobals` replaces, as Node made it.
const { Headers, Response, ReadableStream, FormData, fetch: nodeFetch } = globalThis;

/** What one vendor's SDK is used for, with nothing of ours around it but the `fetch` it is given. */
interface Sdk {
  ask(address: string, fetch: Fetch): Promise<AsyncIterable<unknown>>;
  list(address: string, fetch: Fetch): Promise<unknown>;
}

const [model, apiKey] = ['test-model', 'test-key-0123456789'];
const messages = [{ role: 'user' as const, content: 'Hello' }];
const openai = (baseURL: string, fetch: Fetch) => new OpenAI({ apiKey, baseURL, fetch, maxRetries: 0 });
const anthropic = (baseURL: string, fetch: Fetch) => new Anthropic({ apiKey, baseURL, fetch, maxRetries: 0 });
const gemini = (baseUrl: string, fetch: Fetch) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl, fetch } });
const ollama = (host: string, fetch: Fetch) => new Ollama({ host, fetch });

const SDKS: Readonly<Record<string, Sdk>> = {
  'OpenAI Chat Completions': {
    ask: async (address, fetch) => openai(address, fetch).chat.completions.create({ model, messages, stream: true }),
    list: async (address, fetch) => (await openai(address, fetch).models.list()).data,
  },
  'OpenAI Responses': {
    ask: async (address, fetch) => openai(address, fetch).responses.create({ model, input: 'Hello', stream: true }),
    list: async (address, fetch) => (await openai(address, fetch).models.list()).data,
  },
  Anthropic: {
    ask: async (address, fetch) =>
      anthropic(address, fetch).messages.create({ model, messages, max_tokens: 100, stream: true }),
    list: async (address, fetch) => (await anthropic(address, fetch).models.list()).data,
  },
  Gemini: {
    ask: (address, fetch) => gemini(address, fetch).models.generateContentStream({ model, contents: 'Hello' }),
    list: async (address, fetch) => (await gemini(address, fetch).models.list()).page,
  },
  Ollama: {
    ask: (address, fetch) => ollama(address, fetch).chat({ model, messages, stream: true }),
    list: async (address, fetch) => (await ollama(address, fetch).list()).models,
  },
};

afterEach(useNodeGlobals);

describe.each(dialects.map((dialect) => [dialect.title, dialect] as const))('the SDK for %s', (title, dialect) => {
  const sdk = SDKS[title];

  it("sends the same request and reads the same answer with the plain globals as with Node's", async () => {
    const run = async (address: string, fetch: Fetch): Promise<unknown> => {
      const events: unknown[] = [];
      for await (const event of (await sdk?.ask(address, fetch)) ?? []) events.push(event);
      return events;
    };
    const { node, plain } = await withBoth(dialect.text('Hel', 'lo 😀'), dialect.path, run);
    expect(JSON.stringify(node.found)).toContain('😀');
    expect(plain).toEqual(node);
  });

  it("lists the same models with the plain globals as with Node's", async () => {
    const models = [{ id: 'm-1', name: 'models/m-1', type: 'model' }];
    const answer = { chunks: [JSON.stringify({ object: 'list', data: models, models, has_more: false })] };
    const { node, plain } = await withBoth(answer, dialect.path, async (address, fetch) => sdk?.list(address, fetch));
    expect(JSON.stringify(node.found)).toContain('m-1');
    expect(plain).toEqual(node);
  });
});

interface Run {
  readonly found: unknown;
  readonly sent: readonly object[];
}

/** The same with Node's globals and its `fetch`, then with what the program puts in their place. */
async function withBoth(
  answer: VendorAnswer,
  path: string,
  run: (address: string, fetch: Fetch) => Promise<unknown>,
): Promise<{ node: Run; plain: Run }> {
  await using server = await vendorServer(answer);
  const address = server.url + path;
  useNodeGlobals();
  const node = await run(address, nodeFetch);
  const sentByNode = server.requests.map(essence);
  const plain = await run(address, makeFetch(settingsFor(address)));
  const sentByUs = server.requests.slice(sentByNode.length).map(essence);
  return {
    node: { found: asData(node), sent: sentByNode },
    plain: { found: asData(plain), sent: sentByUs },
  };
}

/**
 * What an SDK found as JSON sees it, for it has classes and hidden links to its response. When the server answered is
 * of no matter.
 */
function asData(found: unknown): unknown {
  return JSON.parse(JSON.stringify(found, (key, value) => (key === 'date' ? undefined : value)));
}

function useNodeGlobals(): void {
  for (const [name, value] of Object.entries({ Headers, Response, ReadableStream, FormData })) {
    Object.defineProperty(globalThis, name, { configurable: true, writable: true, value });
  }
}

/** A request without what Node's `fetch` adds of its own. */
function essence({ method, path, headers, body }: SeenRequest): object {
  const ADDED = ['accept', 'accept-encoding', 'accept-language', 'connection', 'host', 'sec-fetch-mode', 'user-agent'];
  const own = Object.entries(headers).filter(([name]) => !ADDED.includes(name));
  return { method, path, headers: Object.fromEntries(own), body };
}
