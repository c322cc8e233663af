import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { isJsonObject, type JsonObject, parseObject } from '../../lib/chat/json.js';

import { THREADS } from './real-server.js';

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

/**
 * A door before a real server that remembers what passes. The server judges every request; what it writes as a summary
 * is replaced, for its model writes nonsense.
 */
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

/** Not by `fetch`, which gives up on a server that takes five minutes to read a prompt. */
async function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  { target, text, summary, one }: Order,
): Promise<void> {
  const { host: _, 'content-length': __, connection: ___, ...headers } = incoming.headers;
  const outgoing = request(target + one.path, { method: one.method, headers });
  response.on('close', () => outgoing.destroy());
  outgoing.end(text && JSON.stringify(lighter(summary === null ? one.body : inOneToken(one.body))));
  try {
    const [answer]: IncomingMessage[] = await once(outgoing, 'response');
    if (answer === undefined) return;
    one.status = answer.statusCode ?? 0;
    response.writeHead(one.status, { 'content-type': answer.headers['content-type'] ?? 'application/json' });
    const isReplaced = summary !== null && one.status === 200;
    for await (const piece of answer) {
      if (isReplaced) continue;
      response.write(piece);
      one.pieces += 1;
    }
    response.end(isReplaced ? replacement(one.path, summary) : undefined);
  } catch {
    response.destroy();
  }
}

/**
 * The request with the shortest of answers: what the server says to the request counts, and not what its model writes.
 */
function inOneToken(body: JsonObject): JsonObject {
  if (isJsonObject(body.options)) return { ...body, options: { ...body.options, num_predict: 1 } };
  const limit = 'max_completion_tokens' in body ? 'max_completion_tokens' : 'max_tokens';
  return { ...body, [limit]: 1 };
}

/** On as many threads as the machine has left, which Ollama takes from the request. */
function lighter(body: JsonObject): JsonObject {
  if (!isJsonObject(body.options)) return body;
  return { ...body, options: { ...body.options, num_thread: THREADS } };
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
