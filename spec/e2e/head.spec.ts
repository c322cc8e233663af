import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import { type Home, makeHome, type Run, runProgram } from '../support/program.js';
import { prose } from '../support/prose.js';
import { type ListedTool, textTool, toolServer } from '../support/tool-server.js';
import { chatServer, type VendorAnswer, type VendorServer } from '../support/vendor-server.js';
import { type Dialect, dialects } from '../support/vendors.js';

const started: { readonly home: Home; readonly server: VendorServer }[] = [];

afterEach(async () => {
  for (const { home, server } of started.splice(0)) {
    await server[Symbol.asyncDispose]();
    home.remove();
  }
});

/** A user of this vendor, with the tools of one MCP server, and the answers of the model. */
async function start(
  { provider, settings, path }: Dialect,
  answers: readonly VendorAnswer[],
  tools: readonly ListedTool[] = [],
  more: JsonObject = {},
) {
  const vendor = await chatServer(...answers);
  const made = makeHome(null);
  const notes = toolServer(made.folder, 'notes', { tools });
  const own = settings.options ? { [provider]: settings.options } : {};
  const mcpServers = tools.length > 0 ? { mcpServers: { notes: notes.entry } } : {};
  const config = { provider, model: 'm', api_key: 'k', api_base: `${vendor.url}${path}` };
  made.writeConfig(JSON.stringify({ ...config, ...own, ...mcpServers, ...more }));
  started.push({ home: made, server: vendor });
  return {
    home: made,
    bodies: (): readonly JsonObject[] => vendor.requests.map(({ body }) => body),
    tokens: (): number => JSON.stringify(vendor.requests.at(-1)?.body).length / 4,
    ask: (...args: readonly string[]): Promise<Run> => runProgram(made, ['ask', ...args, '2+2?']),
    calls: () => notes.requests().filter(({ method }) => method === 'tools/call'),
  };
}

/** 23 tools of together 2,800 tokens, as two published servers have them. */
const TWENTY_THREE = Array.from({ length: 23 }, (_, at) =>
  textTool(`read_multiple_things_${at}`, `Does the thing ${at} with what is given, ${prose(300, at)}`),
);

const ALLOWED: JsonObject = { tools: { permissions: { allow: ['mcp__notes__*'] } } };
const NAME = 'mcp__notes__read_multiple_things_7';

describe.each(dialects)('a question in a fresh chat with $title', (dialect) => {
  it('takes about a thousand tokens, with 23 tools of servers about two thousand', async () => {
    const plain = await start(dialect, [dialect.text('4')]);
    await plain.ask();
    expect(plain.tokens()).toBeLessThan(1100);
    const tooled = await start(dialect, [dialect.text('4')], TWENTY_THREE);
    await tooled.ask();
    expect(JSON.stringify(tooled.bodies())).toContain(NAME);
    expect(tooled.tokens()).toBeLessThan(2000);
  });
});

// Two of the protocols: what a call becomes in each, their own specs show.
describe.each([dialects[0], dialects[2]] as readonly Dialect[])('a fresh chat with $title', (dialect) => {
  it('has a tool found and called without a change to the list of tools', async () => {
    const chat = await start(
      dialect,
      [
        dialect.tools({ name: 'find_tool', args: { query: NAME } }),
        dialect.tools({ name: 'call_tool', args: { name: NAME, arguments: { text: 'milk' } } }),
        dialect.text('Done.'),
      ],
      TWENTY_THREE,
      ALLOWED,
    );
    const report = JSON.parse((await chat.ask('--json')).stdout);
    expect(report.text).toContain('Done.');
    expect(report.tool_calls.at(-1)).toMatchObject({ name: NAME, args: { text: 'milk' } });
    expect(chat.calls()).toMatchObject([{ params: { name: 'read_multiple_things_7', arguments: { text: 'milk' } } }]);
    const [first, second, third] = chat.bodies();
    expect([second?.tools, third?.tools]).toEqual([first?.tools, first?.tools]);
    expect(JSON.stringify(second)).toContain(String(TWENTY_THREE[7]?.description).slice(100, 200));
    expect(JSON.stringify(third)).toContain('milk');
  });
});

describe('a tool that is called by call_tool', () => {
  const [chat] = dialects as readonly [Dialect, ...Dialect[]];

  const called = async (all: readonly JsonObject[], more: JsonObject = ALLOWED, ...options: readonly string[]) => {
    const calls = all.map((args) => ({ name: 'call_tool', args }));
    const made = await start(chat, [chat.tools(...calls), chat.text('Done.')], TWENTY_THREE, more);
    const run = await made.ask(...options);
    return { ...run, calls: made.calls().length, sent: JSON.stringify(made.bodies().at(-1)) };
  };

  it('is judged, refused and shown by its own name', async () => {
    const call = { name: NAME, arguments: { text: 'milk' } };
    const denied = await called([call], { tools: { permissions: { allow: ['mcp__notes__*'], deny: [NAME] } } }, '-y');
    expect(denied).toMatchObject({ status: 0, calls: 0 });
    const unasked = await called([call], {});
    expect(unasked.calls).toBe(0);
    expect(unasked.stderr).toContain(`Not run: ${NAME} milk needs approval (a tool of the server 'notes')`);
    const other = await called([call], {
      tools: { permissions: { allow: ['call_tool', 'mcp__notes__read_multiple_things_8'] } },
    });
    expect(other.calls).toBe(0);
  });

  it('gets arguments that are an object or the text of one, and reports every other call', async () => {
    const { calls, sent } = await called([
      { name: NAME, arguments: '{"text": "milk"}' },
      { name: NAME, arguments: {} },
      { name: NAME, arguments: 'milk' },
      { name: NAME },
      { name: 'mcp__notes__read_multiple_thing_7', arguments: {} },
      { name: 'bash', arguments: { command: 'ls' } },
    ]);
    expect(calls).toBe(1);
    const results = ['milk', "'text' is missing", 'Expected: {name, arguments}', 'Expected: {name, arguments}'];
    const all = [...results, `Did you mean '${NAME}'`, "Unknown tool 'bash'"].map((text) =>
      text.replace(/[{}?]/g, '.'),
    );
    expect(sent).toMatch(new RegExp(all.join('.*')));
  });

  it('is offered itself where it is named by --tools, or where the tools are few or the window is set', async () => {
    const offered = async (tools: readonly ListedTool[], more: JsonObject, ...args: readonly string[]) => {
      const made = await start(chat, [chat.text('4')], tools, more);
      await made.ask(...args);
      const names = [...JSON.stringify(made.bodies()[0]).matchAll(/"function":\{"name":"(\w+)"/g)].map(
        ([, name = '']) => name,
      );
      return names.filter((name) => /^mcp__|_tool$/.test(name));
    };
    const whole = TWENTY_THREE.map(({ name }) => `mcp__notes__${name}`);
    expect(await offered(TWENTY_THREE, {})).toEqual(['find_tool', 'call_tool']);
    expect(await offered(TWENTY_THREE, {}, '--tools', NAME)).toEqual([NAME]);
    expect(await offered(TWENTY_THREE.slice(0, 9), {})).toEqual(whole.slice(0, 9));
    expect(await offered(TWENTY_THREE, { context_window: 128_000 })).toEqual(whole);
  });
});

describe('skills in a fresh chat', () => {
  const [chat] = dialects as readonly [Dialect, ...Dialect[]];
  const skills = (made: Home, count: number, characters: number): void => {
    mkdirSync(join(made.config, 'skills'));
    for (let at = 0; at < count; at += 1)
      writeFileSync(
        join(made.config, 'skills', `topic${at}.md`),
        `# topic${at}\n\nHow to work with topic${at}.\n\n${prose(characters, at)}`,
      );
  };

  it('are sent if a message matches them once they have more than 2,000 tokens, unless the window is set', async () => {
    const sizes: number[] = [];
    for (const [count, more] of [
      [40, {}],
      [40, { context_window: 1_000_000 }],
    ] as const) {
      const made = await start(chat, [chat.text('4')], [], more);
      skills(made.home, count, 11_200);
      await made.ask();
      sizes.push(made.tokens());
    }
    expect(sizes).toEqual([expect.any(Number), expect.any(Number)]);
    expect(sizes[0]).toBeLessThan(5500);
    expect(sizes[1]).toBeGreaterThan(100_000);
  });

  it('are all sent while they have less', async () => {
    const made = await start(chat, [chat.text('4')]);
    skills(made.home, 3, 2400);
    await made.ask();
    for (const name of ['topic0', 'topic1', 'topic2']) expect(JSON.stringify(made.bodies()[0])).toContain(name);
  });
});
