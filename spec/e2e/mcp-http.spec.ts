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

const ADD = { name: 'mcp__far__add', args: { text: 'milk' } };
const withServer = (entry: object): void =>
  house.configure({ mcpServers: { far: entry }, tools: { permissions: { allow: ['mcp__far__add'] } } });

describe('a server over HTTP', () => {
  it.each([
    ['JSON', json],
    ['events', events],
  ])('is called like any other when it answers in %s, with the headers of its entry', async (_, answer) => {
    const { url, seen } = await httpServer(answer);
    house = await mcpHouse({}, [ADD]);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of variables in mcpServers
    withServer({ type: 'http', url, headers: { Authorization: 'Bearer ${FAR_TOKEN}' } });
    const run = await house.ask([], { env: { FAR_TOKEN: 'a-token-of-far' } });
    expect(run).toMatchObject({ status: 0, stdout: 'done' });
    expect(JSON.parse(toolResults(house)[0] ?? '')).toEqual({ content: 'over HTTP' });
    expect(seen.every(({ headers }) => headers.authorization === 'Bearer a-token-of-far')).toBe(true);
  });

  it('that wants a login, is not there, or is no such server is named, and the turn goes on', async () => {
    const { url } = await httpServer((response) => void response.writeHead(401).end('no'));
    house = await mcpHouse({}, []);
    withServer({ url });
    expect((await house.ask()).stderr).toContain("The server 'far': It wants a login. Run: hi mcp login far");
    withServer({ url: 'http://127.0.0.1:9/mcp' });
    const refused = await house.ask();
    expect(refused).toMatchObject({ status: 0, stdout: 'done' });
    expect(refused.stderr).toMatch(/The server 'far': .*ECONNREFUSED/);
    withServer({ url: 'not an address' });
    expect((await house.ask()).stderr).toContain("The server 'far': ");
  });
});
