import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { JsonObject } from '../../lib/chat/json.js';

/** What the server has to say to one request. */
export interface VendorAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body, in the pieces it is sent in. */
  readonly chunks?: readonly (string | Uint8Array)[];
  /**
   * How the body ends: in good order, with the connection broken, or not at all, with silence or with its last piece
   * again and again.
   */
  readonly end?: 'well' | 'cut' | 'never' | 'again';
  /** Never even sends the headers. */
  readonly silent?: boolean;
}

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
  /** Resolves when the connection of this request is closed, with the milliseconds since the epoch. */
  readonly closed: Promise<number>;
}

/** What the server says, or what it makes of a request. */
export type Scripted = VendorAnswer | ((body: JsonObject, path: string, headers: IncomingHttpHeaders) => VendorAnswer);

/**
 * A server on this machine that gives one answer after another, the last one for ever, and remembers what it was asked.
 */
export interface VendorServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** How many connections were opened. */
  connections(): number;
  /** Closes every connection there is, as a server does with those that are idle. */
  dropConnections(): void;
}

export async function vendorServer(...answers: readonly Scripted[]): Promise<VendorServer> {
  return await serve(answers, () => false);
}

/** The same for a server that tells nothing of its models: what `hi` asks about them is refused, and not remembered. */
export async function chatServer(...answers: readonly Scripted[]): Promise<VendorServer> {
  return await serve(answers, (method, path) => method === 'GET' || path.endsWith('/api/show'));
}

/**
 * A server that answers a question about its models with `list`, which is among the requests, and everything else with
 * `answer`.
 */
export async function listingServer(list: VendorAnswer, answer: Scripted): Promise<VendorServer> {
  return await serve([answer], () => false, list);
}

async function serve(
  answers: readonly Scripted[],
  isUnanswered: (method: string, path: string) => boolean,
  list: VendorAnswer | null = null,
): Promise<VendorServer> {
  const requests: SeenRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const closed = new Promise<number>((resolve) => response.on('close', () => resolve(Date.now())));
    const pieces: Uint8Array[] = [];
    for await (const piece of incoming) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    const { method = '', url: path = '', headers } = incoming;
    if (isUnanswered(method, path)) return await say({ status: 404, chunks: ['{}'] }, response);
    const answer = (method === 'GET' ? list : null) ?? answers[Math.min(requests.length, answers.length - 1)] ?? {};
    const body: JsonObject = text === '' ? {} : JSON.parse(text);
    requests.push({ method, path, headers, body, closed });
    await say(typeof answer === 'function' ? answer(body, path, headers) : answer, response);
  });
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    connections: () => connections,
    dropConnections: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export async function say(answer: VendorAnswer, response: ServerResponse): Promise<void> {
  if (answer.silent) return;
  response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
  response.flushHeaders();
  for (const chunk of answer.chunks ?? []) {
    await new Promise<void>((resolve) => response.write(chunk, () => resolve()));
    // A tick between the pieces, so that they arrive as pieces.
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (answer.end === 'cut') response.destroy();
  else if (answer.end === 'again') sayAgain(answer.chunks?.at(-1) ?? '', response);
  else if (answer.end !== 'never') response.end();
}

/** As fast as it is read, until the connection is closed. */
function sayAgain(chunk: string | Uint8Array, response: ServerResponse): void {
  if (response.destroyed) return;
  response.write(chunk, () => setImmediate(sayAgain, chunk, response));
}

const STREAM = { 'content-type': 'text/event-stream' };

/** Server-sent events without names, as OpenAI's Chat Completions and Google send them. */
export function sse(...data: readonly (JsonObject | string)[]): VendorAnswer {
  return {
    headers: STREAM,
    chunks: data.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`),
  };
}

/** Server-sent events named by their `type`, as Anthropic and OpenAI's Responses send them. */
export function namedSse(...data: readonly JsonObject[]): VendorAnswer {
  return { headers: STREAM, chunks: data.map((one) => `event: ${String(one.type)}\ndata: ${JSON.stringify(one)}\n\n`) };
}

/** One JSON object a line, as Ollama sends them. */
export function ndjson(...lines: readonly JsonObject[]): VendorAnswer {
  return {
    headers: { 'content-type': 'application/x-ndjson' },
    chunks: lines.map((one) => `${JSON.stringify(one)}\n`),
  };
}

/** An error answer with a JSON body. */
export function refusal(
  status: number,
  body: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): VendorAnswer {
  return { status, headers, chunks: [JSON.stringify(body)] };
}
