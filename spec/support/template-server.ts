import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type JsonObject, parseObject } from '../../lib/chat/json.js';

/** A request as the chat template of a real server rendered it. */
export interface Rendered {
  readonly body: JsonObject;
  /** The status of llama.cpp's server for this request. */
  readonly status: number;
  /** What the model would have read; of a refusal, what the server said. */
  readonly prompt: string;
}

/** Words, and calls of tools by name and arguments. */
export interface Written {
  readonly text?: string;
  readonly calls?: readonly (readonly [name: string, args: JsonObject])[];
}

/**
 * A door before llama.cpp's server: its template judges each request, and the answer is written here, for it takes the
 * model a second to write nonsense.
 */
export interface TemplateServer extends AsyncDisposable {
  readonly url: string;
  readonly rendered: readonly Rendered[];
}

/** `target` is the server without a path; `write` is asked for each answer. */
export async function templateServer(target: string, write: (body: JsonObject) => Written): Promise<TemplateServer> {
  const rendered: Rendered[] = [];
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    const { method = 'GET', url: path = '/' } = incoming;
    if (method === 'GET') {
      const { status, body } = await ask(target + path);
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
      return;
    }
    const body = parseObject(text) ?? {};
    const { status, body: said } = await ask(`${target}/apply-template`, text);
    rendered.push({ body, status, prompt: status === 200 ? String(parseObject(said)?.prompt) : said });
    if (status !== 200) response.writeHead(status, { 'content-type': 'application/json' }).end(said);
    else response.writeHead(200, { 'content-type': 'text/event-stream' }).end(streamOf(write(body)));
  };
  const server = createServer((incoming, response) => {
    answer(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    rendered,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

async function ask(url: string, body?: string): Promise<{ status: number; body: string }> {
  const answer = await fetch(url, body === undefined ? {} : { method: 'POST', body });
  return { status: answer.status, body: await answer.text() };
}

let answers = 0;

function streamOf({ text = '', calls = [] }: Written): string {
  answers += 1;
  const tool_calls = calls.map(([name, args], index) => ({
    index,
    // As Mistral's templates want their own.
    id: `call${answers}${index}`.padEnd(9, 'x'),
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  const delta = { content: text, ...(calls.length > 0 && { tool_calls }) };
  const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop';
  const chunk = {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  };
  return `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
}
