import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonValue } from '../../lib/chat/json.js';

/** A message as Chat Completions has it, as far as specs look at it. */
export interface SentMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
}

export interface SentRequest {
  readonly model: string;
  readonly messages: readonly SentMessage[];
  readonly tools?: readonly unknown[];
  readonly response_format?: JsonValue;
}

/** What the server says to one request. */
export interface Reply {
  readonly text?: string;
  /** What the model thinks before it answers. */
  readonly thinking?: string;
  /** The answer in these pieces, in place of `text`. */
  readonly pieces?: readonly string[];
  readonly calls?: readonly { readonly name: string; readonly args: unknown }[];
  /** Prompt and answer tokens; none are told when absent. */
  readonly usage?: readonly [number, number];
  readonly finish?: string;
  /** An error in place of an answer. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly error?: { readonly message: string; readonly code?: string; readonly type?: string };
  /** Milliseconds before the first piece and between pieces. */
  readonly delay?: number;
  /** Breaks the connection after that many pieces. */
  readonly cutAfter?: number;
  /** Goes silent after that many pieces. */
  readonly hangAfter?: number;
  /** Waits for this after the first piece. */
  readonly until?: Promise<unknown>;
}

/** A scripted server that speaks Chat Completions on loopback. */
export interface ScriptedServer {
  /** The address as `api_base` takes it. */
  readonly base: string;
  readonly requests: readonly SentRequest[];
  /** How many answers the client did not wait for. */
  readonly abandoned: () => number;
  close(): Promise<void>;
}

/**
 * Starts a server; `answer` is asked for each request, with its place in the order of requests, and may take its time.
 * It lists these `models`.
 */
export async function startScriptedServer(
  answer: (request: SentRequest, index: number) => Reply | Promise<Reply>,
  models: readonly string[] = ['scripted'],
): Promise<ScriptedServer> {
  const requests: SentRequest[] = [];
  let abandoned = 0;
  const server = createServer(async (message, response) => {
    if (message.method === 'GET') {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ object: 'list', data: models.map((id) => ({ id, object: 'model' })) }));
      return;
    }
    const request: SentRequest = JSON.parse(await bodyOf(message));
    requests.push(request);
    response.on('close', () => {
      if (!response.writableFinished) abandoned += 1;
    });
    await reply(response, request.model, await answer(request, requests.length - 1));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    base: `http://127.0.0.1:${port}/v1`,
    requests,
    abandoned: () => abandoned,
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}

async function bodyOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function reply(response: ServerResponse, model: string, said: Reply): Promise<void> {
  if (said.status !== undefined) {
    response.writeHead(said.status, { 'content-type': 'application/json', ...said.headers });
    response.end(JSON.stringify({ error: said.error ?? { message: `status ${said.status}` } }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (data: unknown): void => void response.write(`data: ${JSON.stringify(data)}\n\n`);
  const chunk = (delta: unknown, finish_reason: string | null = null): void =>
    send({
      id: 'c1',
      object: 'chat.completion.chunk',
      created: 1,
      model,
      choices: [{ index: 0, delta, finish_reason }],
    });
  const pieces = said.pieces ?? (said.text === undefined ? [] : [said.text]);
  if (said.thinking !== undefined) chunk({ reasoning_content: said.thinking });
  for (const [index, piece] of pieces.entries()) {
    if (said.cutAfter === index) {
      await sleep(said.delay ?? 0);
      return void response.destroy();
    }
    if (said.hangAfter === index) return;
    if (said.delay !== undefined) await sleep(said.delay);
    if (index === 1) await said.until;
    if (response.destroyed) return;
    chunk({ content: piece });
  }
  for (const [index, { name, args }] of (said.calls ?? []).entries()) {
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    const id = `call_${Math.random().toString(36).slice(2)}`;
    chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: text } }] });
  }
  chunk({}, said.finish ?? (said.calls === undefined ? 'stop' : 'tool_calls'));
  if (said.usage !== undefined) {
    const [prompt_tokens, completion_tokens] = said.usage;
    const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
    send({ id: 'c1', object: 'chat.completion.chunk', created: 1, model, choices: [], usage });
  }
  response.end('data: [DONE]\n\n');
}
