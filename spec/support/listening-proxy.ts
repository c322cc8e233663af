import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isJsonObject, type JsonObject, parseObject } from '../../lib/chat/json.js';

/** What passed on the way to a server. */
export interface Passed {
  readonly method: string;
  readonly path: string;
  readonly body: JsonObject;
  /** Of the server's answer; 0 while there is none. */
  status: number;
  /** Of the answer, handed on so far. */
  pieces: number;
  readonly isSummary: boolean;
}

/** A door before a real server that remembers what passes. The server judges every request; what it writes as a summary is replaced, for its model writes nonsense. */
export interface ListeningProxy extends AsyncDisposable {
  readonly url: string;
  readonly passed: readonly Passed[];
}

export async function listeningProxy(target: string, summary: string): Promise<ListeningProxy> {
  const passed: Passed[] = [];
  const server = createServer(async (incoming, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    const body = parseObject(text) ?? {};
    const { method = 'GET', url: path = '/' } = incoming;
    const one = { method, path, body, status: 0, pieces: 0, isSummary: /keep the record of/.test(text) };
    passed.push(one);
    await forward(incoming, response, { target, text, summary: one.isSummary ? summary : null, one });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    passed,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

interface Order {
  readonly target: string;
  readonly text: string;
  /** In place of what the server writes; null for its own words. */
  readonly summary: string | null;
  readonly one: Passed;
}

async function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  { target, text, summary, one }: Order,
): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const { host: _, 'content-length': __, connection: ___, ...headers } = incoming.headers;
  try {
    const answer = await fetch(target + one.path, {
      method: one.method,
      headers: Object.entries(headers).map(([name, value]): [string, string] => [name, `${value}`]),
      ...(text !== '' && { body: JSON.stringify(lighter(summary === null ? one.body : inOneToken(one.body))) }),
      signal: gone.signal,
    });
    one.status = answer.status;
    const type = answer.headers.get('content-type') ?? 'application/json';
    response.writeHead(answer.status, { 'content-type': type });
    if (summary !== null && answer.ok) {
      await answer.text();
      response.end(replacement(one.path, summary));
      return;
    }
    for await (const piece of answer.body ?? []) {
      response.write(piece);
      one.pieces += 1;
    }
    response.end();
  } catch {
    response.destroy();
  }
}

/** The request with the shortest of answers: what the server says to the request counts, and not what its model writes. */
function inOneToken(body: JsonObject): JsonObject {
  if (isJsonObject(body.options)) return { ...body, options: { ...body.options, num_predict: 1 } };
  const limit = 'max_completion_tokens' in body ? 'max_completion_tokens' : 'max_tokens';
  return { ...body, [limit]: 1 };
}

/** For Ollama one thread: two wait for each other in a loop, which costs a busy machine six times what one takes. */
function lighter(body: JsonObject): JsonObject {
  if (!isJsonObject(body.options)) return body;
  return { ...body, options: { ...body.options, num_thread: 1 } };
}

function replacement(path: string, content: string): string {
  if (path === '/api/chat')
    return `${JSON.stringify({ message: { role: 'assistant', content }, done: true, done_reason: 'stop' })}\n`;
  const chunk = {
    id: 's',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }],
  };
  return `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
}
