import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { chatDriver } from '../support/chat.js';
import { withToolServer } from '../support/mcp-chat.js';
import { type McpHouse, mcpHouse, offeredTools } from '../support/mcp-house.js';
import { runProgram } from '../support/program.js';
import { KEY } from '../support/terminal.js';
import { textTool } from '../support/tool-server.js';

const start = chatDriver();
let house: McpHouse | undefined;
afterEach(async () => {
  await house?.close();
  house = undefined;
});

const ADD = { name: 'mcp__notes__add', args: { text: 'milk' } };
const ALLOWED = { tools: { permissions: { allow: ['mcp__notes__*'] } } };
const servers = (asked: McpHouse, index: number) =>
  offeredTools(asked, index).filter((name) => name.startsWith('mcp__'));
const lists = (asked: McpHouse): number =>
  asked.server.requests().filter(({ method }) => method === 'tools/list').length;

describe('a server of 2026-07-28', () => {
  it('is asked to report changes in a chat, and what it reports applies from the next message on', async () => {
    const later = { after: 100, changes: { tools: [textTool('add'), textTool('ant')] } };
    const chat = await start(({ messages }) => {
      const calls = messages.filter(({ role }) => role === 'tool').length;
      return calls === 0 ? { calls: [ADD] } : { text: `answer ${messages.length}` };
    });
    const server = await withToolServer(chat, { tools: [textTool('add')], modern: {}, later }, ALLOWED);
    await chat.open();
    await chat.say('one', /^answer/m);
    await sleep(500);
    chat.terminal.type(`two${KEY.enter}`);
    await chat.until(/^answer[\s\S]*^answer/m);
    const listens = server.requests().filter(({ method }) => method === 'subscriptions/listen');
    expect(listens.map(({ params }) => params?.notifications)).toEqual([{ toolsListChanged: true }]);
    expect(JSON.stringify(chat.server.requests.at(-1)?.tools)).toContain('mcp__notes__ant');
    expect(JSON.stringify(chat.server.requests.at(0)?.tools)).not.toContain('mcp__notes__ant');
  });

  it('is not asked to report changes by hi ask, which ends soon', async () => {
    house = await mcpHouse({ tools: [textTool('add')], modern: {} }, [ADD], ALLOWED);
    expect(await house.ask()).toMatchObject({ status: 0, called: 1 });
    expect(house.server.requests().map(({ method }) => method)).not.toContain('subscriptions/listen');
  });

  it('is asked again for a list that has expired, and not before', async () => {
    house = await mcpHouse({ tools: [textTool('add')], modern: { ttlMs: 60_000 } }, []);
    await house.ask();
    await house.ask();
    expect(lists(house)).toBe(1);
    house.server.become({ tools: [textTool('ant')], modern: { ttlMs: 1 } });
    await runProgram(house.home, ['mcp', 'test', 'notes']);
    house.server.become({ tools: [textTool('bee')], modern: { ttlMs: 60_000 } });
    await house.ask();
    expect(servers(house, -1)).toEqual(['mcp__notes__bee']);
    expect(lists(house)).toBe(3);
  });
});

describe('a server that does not start', () => {
  it('is retried now and then, and reported as left out meanwhile', async () => {
    house = await mcpHouse({ silent: true }, [], {}, { start_timeout_ms: 2000 });
    expect((await house.ask()).stderr).toContain('It did not start within 2 s, its start_timeout_ms.');
    const began = Date.now();
    const again = await house.ask();
    expect(again).toMatchObject({ status: 0, stdout: 'done\n' });
    expect(again.stderr).toMatch(
      /The server 'notes' is not used: it failed 1 minute ago \(It did not start within 2 s, its start_timeout_ms\.\)\. To try it now, run: hi mcp test notes/,
    );
    expect(Date.now() - began).toBeLessThan(2000);
    const list = await runProgram(house.home, ['mcp', 'list']);
    expect(list.stdout).toContain('  failed 1 minute ago (It did not start within 2 s, its start_timeout_ms.)\n');
    expect(house.server.starts()).toHaveLength(1);
    house.server.become({ tools: [textTool('add')] });
    await runProgram(house.home, ['mcp', 'test', 'notes']);
    expect((await runProgram(house.home, ['mcp', 'list'])).stdout).toContain('  1 tool, about ');
    expect((await house.ask()).stderr).toBe('');
    expect(servers(house, -1)).toEqual(['mcp__notes__add']);
  });
});
