import { afterEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, type Run, runProgram } from '../support/program.js';
import { type Reply, type ScriptedServer, type SentRequest, startScriptedServer } from '../support/scripted-server.js';
import { type Scenario, type ToolServer, textTool, toolServer } from '../support/tool-server.js';

let model: ScriptedServer;
let home: Home;
let server: ToolServer;

afterEach(async () => {
  await model?.close();
  home?.remove();
});

/** A home with one server, and a model that answers so. */
async function setUp(scenario: Scenario, answer: (request: SentRequest, index: number) => Reply, more: object = {}) {
  model = await startScriptedServer(answer);
  home = makeHome(null);
  server = toolServer(home.folder, 'notes', scenario);
  configure(more);
}

function configure(more: object = {}, entry: object = {}): void {
  const mcpServers = { notes: { ...server.entry, ...entry } };
  home.writeConfig(
    JSON.stringify({ provider: 'openai', model: 'scripted', api_base: model.base, mcpServers, ...more }),
  );
}

const ask = (...args: readonly string[]): Promise<Run> => runProgram(home, ['ask', ...args, 'go']);

/** A model that makes these calls, one a round, and then says that it is done. */
const calling =
  (...calls: readonly { readonly name: string; readonly args: object }[]) =>
  (_request: SentRequest, index: number): Reply => {
    const call = calls[index];
    return call === undefined ? { text: 'done' } : { calls: [call] };
  };

const toolNames = (request: SentRequest | undefined): readonly string[] =>
  (request?.tools ?? []).map((tool) => JSON.parse(JSON.stringify(tool)).function.name);

const results = (): readonly string[] =>
  (model.requests.at(-1)?.messages ?? []).filter(({ role }) => role === 'tool').map(({ content }) => String(content));

const ALLOWED = { tools: { permissions: { allow: ['mcp__notes__*'] } } };

describe('the tools of a server', () => {
  it('are offered, called and answered like any other', async () => {
    await setUp({ tools: [textTool('add')] }, calling({ name: 'mcp__notes__add', args: { text: 'milk' } }), ALLOWED);
    const run = await ask();
    expect(run).toMatchObject({ status: 0, stdout: 'done\n' });
    expect(toolNames(model.requests[0])).toEqual(expect.arrayContaining(['bash', 'mcp__notes__add']));
    expect(JSON.parse(results()[0] ?? '')).toEqual({ content: '{"text":"milk"}' });
  });

  it('start no process before one is called, if their list is cached', async () => {
    await setUp({ tools: [textTool('add')] }, calling());
    expect((await runProgram(home, ['mcp', 'test', 'notes'])).stdout).toContain('add');
    expect(server.starts()).toHaveLength(1);
    await ask();
    expect(server.starts()).toHaveLength(1);
    expect(toolNames(model.requests[0])).toContain('mcp__notes__add');
  });

  it('need a rule or approval, and are refused if nobody can be asked', async () => {
    await setUp({ tools: [textTool('add')] }, calling({ name: 'mcp__notes__add', args: { text: 'milk' } }));
    const run = await ask();
    expect(run.stderr).toContain("Not run: mcp__notes__add milk needs approval (a tool of the server 'notes')");
    expect(results()[0]).toContain('Not allowed');
    expect(server.requests().map(({ method }) => method)).not.toContain('tools/call');
  });

  it('are listed by list, which starts nothing', async () => {
    await setUp({ tools: [textTool('add')] }, calling());
    const before = JSON.parse((await runProgram(home, ['mcp', 'list', '--json'])).stdout);
    expect(before).toEqual([expect.objectContaining({ name: 'notes', tools: null })]);
    expect(server.starts()).toEqual([]);
    await runProgram(home, ['mcp', 'test', 'notes']);
    expect((await runProgram(home, ['mcp', 'list'])).stdout).toMatch(/^notes .* 1 tool, about \d+ tokens$/m);
  });
});
