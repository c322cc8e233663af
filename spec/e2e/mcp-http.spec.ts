import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type McpHouse, mcpHouse, toolResults } from '../support/mcp-house.js';
import { textTool } from '../support/tool-server.js';

let house: McpHouse;
let close: () => void = () => {};
afterEach(async () => {
  close();
  await house?.close();
});

interface Seen {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
}

type Answer = (response: ServerResponse, id: unknown, method: string) => void;

const answers: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'spec', version: '1' },
  },
  'tools/list': { tools: [textTool('add')] },
  'tools/call': { content: [{ type: 'text', text: 'over HTTP' }] },
};

const json: Answer = (response, id, method) => {
  const result = answers[method];
  const said = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...said }));
};

/** Answers in events, cut anywhere. */
const events: Answer = (response, id, method) => {
  if (answers[method] === undefined) return json(response, id, method);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const text = `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] })}\n\n`;
  response.write(text.slice(0, 30));
  setTimeout(() => response.end(text.slice(30)), 30);
};

/** A server over HTTP; resolves to its address and what reached it. */
async function httpServer(answer: Answer): Promise<{ readonly url: string; readonly seen: readonly Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method } = JSON.parse(text);
    seen.push({ method, headers: request.headers });
    if (id === undefined) response.writeHead(202).end();
    else answer(response, id, method);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  close = () => void server.close();
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, seen };
}

/** Answers as a server with sessions does, that forgets the first one at the first call, in this way. */
function forgetful(forget: (response: ServerResponse, id: unknown) => void): Answer {
  let sessions = 0;
  return (response, id, method) => {
    if (method === 'initialize') {
      sessions += 1;
      response.setHeader('mcp-session-id', `session-${sessions}`);
    }
    if (method === 'tools/call' && sessions === 1) forget(response, id);
    else json(response, id, method);
  };
}

const ADD = { name: 'mcp__far__add', args: { text: 'milk' } };
const withServer = (entry: object): void =>
  house.configure({ mcpServers: { far: entry }, tools: { permissions: { allow: ['mcp__far__add'] } } });

describe('a server over HTTP', () => {
  it.each<[string, (response: ServerResponse, id: unknown) => void]>([
    ['with 404', (response) => void response.writeHead(404).end('no such session')],
    [
      'with an error of its own',
      (response, id) => {
        response.writeHead(400, { 'content-type': 'application/json' });
        const error = { code: -32000, message: 'Bad Request: No valid session ID provided' };
        response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
      },
    ],
  ])('that has forgotten the session, %s, is called in a new one', async (_, forget) => {
    const { url, seen } = await httpServer(forgetful(forget));
    house = await mcpHouse({}, [ADD]);
    withServer({ url });
    await house.ask();
    expect(toolResults(house)).toEqual(['{"content":"over HTTP"}']);
    const calls = seen.filter(({ method }) => method === 'tools/call');
    expect(calls.map(({ headers }) => headers['mcp-session-id'])).toEqual(['session-1', 'session-2']);
    // What the new session offers was looked at before.
    expect(seen.slice(-2).map(({ method }) => method)).toEqual(['tools/list', 'tools/call']);
  });

  it('that fails is named with the status and the beginning of its message', async () => {
    const { url } = await httpServer((response, id, method) => {
      if (method !== 'tools/call') return json(response, id, method);
      response.writeHead(502).end(`<h1>bad gateway</h1>${'x'.repeat(5000)}`);
    });
    house = await mcpHouse({}, [ADD]);
    withServer({ url });
    await house.ask();
    const [result = ''] = toolResults(house);
    expect(result).toContain("The server 'far': It answered with HTTP 502: <h1>bad gateway</h1>xxx");
    expect(result.length).toBeLessThan(500);
  });

  it.each([
    ['JSON', json],
    ['events', events],
  ])('is called like any other if it answers in %s, with the headers of its entry', async (_, answer) => {
    const { url, seen } = await httpServer(answer);
    house = await mcpHouse({}, [ADD]);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of variables in mcpServers
    withServer({ type: 'http', url, headers: { Authorization: 'Bearer ${FAR_TOKEN}' } });
    const run = await house.ask([], { env: { FAR_TOKEN: 'a-token-of-far' } });
    expect(run).toMatchObject({ status: 0, stdout: 'done\n' });
    expect(JSON.parse(toolResults(house)[0] ?? '')).toEqual({ content: 'over HTTP' });
    expect(seen.every(({ headers }) => headers.authorization === 'Bearer a-token-of-far')).toBe(true);
  });

  it('that wants a login, is unreachable, or is no MCP server is named, and the turn continues', async () => {
    const { url } = await httpServer((response) => void response.writeHead(401).end('no'));
    house = await mcpHouse({}, []);
    withServer({ url });
    expect((await house.ask()).stderr).toContain("The server 'far': It requires a login. Run: hi mcp login far");
    withServer({ url: 'http://127.0.0.1:9/mcp' });
    const refused = await house.ask();
    expect(refused).toMatchObject({ status: 0, stdout: 'done\n' });
    expect(refused.stderr).toMatch(/The server 'far': .*ECONNREFUSED/);
    withServer({ url: 'not an address' });
    expect((await house.ask()).stderr).toContain("The server 'far': ");
  });

  it.each([
    ['that is killed during a call has lost the connection', 'dies', 'The connection was lost.'],
    ['that answers with null has refused the call', 'null', 'It sent an answer that is none of the protocol.'],
    ['that answers with a batch has refused the call', 'batch', 'It sent an answer that is none of the protocol.'],
  ])('%s at once', async (_, how, reason) => {
    const { url } = await httpServer((response, id, method) => {
      if (method !== 'tools/call') return json(response, id, method);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const wrong = { jsonrpc: '2.0', id, result: null };
      if (how === 'dies') {
        response.write(': begun\n\n');
        close();
        setTimeout(() => response.destroy(), 50);
      } else response.write(`data: ${JSON.stringify(how === 'null' ? wrong : [{ ...wrong, result: {} }])}\n\n`);
    });
    house = await mcpHouse({}, [ADD]);
    withServer({ url, timeout_ms: 60_000 });
    expect((await house.ask()).status).toBe(0);
    expect(toolResults(house)[0]).toContain(reason);
  });
});
