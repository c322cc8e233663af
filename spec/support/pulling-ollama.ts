import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dialects } from './vendors.js';

/** What an Ollama can download, and how it behaves. */
export interface PullingOptions {
  /** The size of its models, in bytes. Others do not exist. */
  readonly sizes: Readonly<Record<string, number>>;
  /** In how many steps a model comes, and how long each takes, in milliseconds. */
  readonly steps?: number;
  readonly pause?: number;
  /** The step at which the first download fails with this line, or with the connection. */
  readonly failure?: { readonly at: number; readonly error: string | null };
}

/**
 * An Ollama on this machine that begins without a model, downloads as https://docs.ollama.com/api/pull says, and keeps
 * what it has of a stopped download.
 */
export interface PullingOllama extends AsyncDisposable {
  readonly url: string;
  /** `/api/pull NAME` and `/api/chat NAME`, as they came. */
  readonly asked: readonly string[];
  /** The steps that it has of a model. */
  has(model: string): number;
}

export async function pullingOllama(options: PullingOptions): Promise<PullingOllama> {
  const ollama = new Ollama(options);
  const server = createServer(async (incoming, response) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of incoming) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    await ollama.answer(incoming.url ?? '', text === '' ? null : JSON.parse(text).model, response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: ollama.asked,
    has: (model) => ollama.kept.get(model) ?? 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

class Ollama {
  readonly asked: string[] = [];
  readonly kept = new Map<string, number>();
  readonly #there = new Set<string>();
  readonly #options: PullingOptions;
  #failure: PullingOptions['failure'];

  constructor(options: PullingOptions) {
    this.#options = options;
    this.#failure = options.failure;
  }

  async answer(path: string, model: string | null, response: ServerResponse): Promise<void> {
    if (model !== null && path !== '/api/show') this.asked.push(`${path} ${model}`);
    if (path === '/api/pull') return await this.#pull(model ?? '', response);
    const chat = dialects.find(({ provider }) => provider === 'ollama')?.text('Now I am here.');
    if (path === '/api/chat') return void response.writeHead(200, chat?.headers).end(chat?.chunks?.join(''));
    const models = [...this.#there].map((name) => ({ name: `${name}:latest`, model: `${name}:latest` }));
    const told = path === '/api/tags' ? { models } : path === '/api/ps' ? { models: [] } : { model_info: {} };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(told));
  }

  async #pull(model: string, response: ServerResponse): Promise<void> {
    const { sizes, steps = 4, pause = 20 } = this.#options;
    const total = sizes[model];
    const say = (line: object): void => void response.write(`${JSON.stringify(line)}\n`);
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    say({ status: 'pulling manifest' });
    if (total === undefined) {
      say({ error: 'pull model manifest: file does not exist' });
      return void response.end();
    }
    const digest = 'sha256:dde5aa3fc5ffc17176b5e8bdc82f587b24b2678c6c66101bf7da77af9f7ccdff';
    const layer = { status: 'pulling dde5aa3fc5ff', digest, total };
    for (let step = this.kept.get(model) ?? 0; step <= steps; step += 1) {
      if (response.destroyed) return;
      this.kept.set(model, step);
      say(step === 0 ? layer : { ...layer, completed: Math.floor((total * step) / steps) });
      if (this.#failsAt(step, say, response)) return;
      await new Promise((done) => setTimeout(done, pause));
    }
    this.#there.add(model);
    for (const status of ['verifying sha256 digest', 'writing manifest', 'success']) say({ status });
    response.end();
  }

  #failsAt(step: number, say: (line: object) => void, response: ServerResponse): boolean {
    if (this.#failure?.at !== step) return false;
    const { error } = this.#failure;
    this.#failure = undefined;
    if (error === null) response.destroy();
    else {
      say({ error });
      response.end();
    }
    return true;
  }
}
