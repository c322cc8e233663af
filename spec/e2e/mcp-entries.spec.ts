import { afterEach, describe, expect, it } from '@jest/globals';
import { asked, type McpHouse, mcpHouse, offeredTools, toolResults } from '../support/mcp-house.js';
import { runProgram } from '../support/program.js';
import { textTool } from '../support/tool-server.js';

let house: McpHouse;
afterEach(() => house?.close());

const ALLOWED = { tools: { permissions: { allow: ['mcp__notes__*'] } } };
const ADD = { name: 'mcp__notes__add', args: { text: 'milk' } };
const THREE = { tools: [textTool('add'), textTool('ant'), textTool('bee')] };

const fromServers = (): readonly string[] => offeredTools(house).filter((name) => name.startsWith('mcp__'));

/** What there is known of the servers. */
const listed = async (): Promise<unknown> =>
  JSON.parse((await runProgram(house.home, ['mcp', 'list', '--json'])).stdout);

describe('the entry of a server', () => {
  it.each([
    ['names the only tools that the model gets', { only: ['ant', 'no_such'] }, ['mcp__notes__ant']],
    ['names tools that it does not get', { not: ['add', 'no_such'] }, ['mcp__notes__ant', 'mcp__notes__bee']],
    ['does both: what is left out is left out', { only: ['add', 'bee'], not: ['add'] }, ['mcp__notes__bee']],
  ])('%s, and the others cannot be called', async (_title, tools, offered) => {
    house = await mcpHouse(THREE, [ADD], ALLOWED, { tools });
    expect(asked(await house.ask())).toEqual({ status: 0, called: 0 });
    expect(fromServers()).toEqual(offered);
    expect(toolResults(house)[0]).toContain('mcp__notes__add');
  });

  it('may name tools that the server does not have, which is reported when it is asked', async () => {
    house = await mcpHouse(THREE, [], ALLOWED, { tools: { only: ['ant', 'aunt'], not: ['bees'] } });
    const problem = (name: string, key: string): string => `It has no tool '${name}', which tools.${key} names.`;
    const said = [problem('aunt', 'only'), problem('bees', 'not')];
    const run = await house.ask();
    for (const text of said) expect(run.stderr).toContain(`The server 'notes': ${text}`);
    expect(run.stderr).not.toContain("'ant'");
    const test = await runProgram(house.home, ['mcp', 'test', 'notes']);
    expect(test.stdout).toContain(said.join('\n'));
    expect(JSON.parse((await runProgram(house.home, ['mcp', 'test', 'notes', '--json'])).stdout).problems).toEqual(
      said,
    );
  });

  it('may be disabled: it is listed as disabled, not started, and has no tools', async () => {
    house = await mcpHouse(THREE, [ADD], ALLOWED, { enabled: false });
    expect(asked(await house.ask())).toEqual({ status: 0, called: 0 });
    expect(fromServers()).toEqual([]);
    expect(house.server.starts()).toEqual([]);
    expect(await listed()).toEqual([expect.objectContaining({ name: 'notes', state: 'disabled' })]);
  });
});

describe('few tools', () => {
  /** Ten of about 400 tokens each. */
  const tools = Array.from({ length: 10 }, (_, at) => textTool(`tool_${at}`, `Does ${at}. ${'word '.repeat(300)}`));

  it.each([
    [20_000, ['find_tool']],
    [100_000, tools.map(({ name }) => `mcp__notes__${name}`)],
  ])(
    'that would fill more than a tenth of the window are searched for instead: of %d tokens',
    async (window, offered) => {
      house = await mcpHouse({ tools }, [], { ...ALLOWED, context_window: window });
      await house.ask();
      expect(offeredTools(house).filter((name) => /^mcp__|^find_tool$/.test(name))).toEqual(offered);
    },
  );
});

describe('a server that claims that a tool only reads', () => {
  it('is quoted with that claim, and needs a rule or approval all the same', async () => {
    const annotations = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
    house = await mcpHouse({ tools: [{ ...textTool('add'), annotations }] }, [ADD], {
      tools: { permissions: { allow: ['read_file', 'list_files', 'bash'] } },
    });
    const run = await house.ask();
    expect(asked(run)).toEqual({ status: 0, called: 0 });
    expect(run.stderr).toContain("needs approval (a tool of the server 'notes', which says that it only reads)");
    expect(toolResults(house)[0]).toContain('Not allowed');
  });
});
