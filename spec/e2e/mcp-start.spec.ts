import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type McpHouse, mcpHouse, offeredTools } from '../support/mcp-house.js';
import { RUNS_ON_NODE, runProgram } from '../support/program.js';
import { canTrace } from '../support/strace.js';
import { textTool } from '../support/tool-server.js';
import { itWhere } from '../support/where.js';

let house: McpHouse;
afterEach(() => house?.close());

const NAMES = ['one', 'two', 'three', 'four', 'five'];

const itTraced = itWhere(canTrace, 'strace cannot be used here');

/** For what is said of the program's files: an executable is one, and is started by a program of its own. */
const itTracedOnNode = itWhere(canTrace && RUNS_ON_NODE, 'it takes strace, and a program that consists of files');

/** What a run of `hi ask` opens and starts. */
async function traced(): Promise<{ readonly files: readonly string[]; readonly programs: number }> {
  const out = join(house.home.folder, 'trace');
  const under = [
    'strace',
    '-f',
    '-qq',
    '-o',
    out,
    '-e',
    'trace=openat,access,faccessat,faccessat2,stat,newfstatat,statx,execve',
  ];
  const run = await house.ask([], { under });
  expect(run).toMatchObject({ status: 0, stdout: 'done\n' });
  const lines = readFileSync(out, 'utf8').split('\n');
  return {
    files: lines.flatMap((line) => /"([^"]+)"/.exec(line)?.[1] ?? []),
    programs: lines.filter((line) => /execve\(.* = 0$/.test(line)).length,
  };
}

describe('the start of hi ask', () => {
  itTracedOnNode('with five known servers starts none of them and does not load the SDK', async () => {
    house = await mcpHouse({ tools: [textTool('add')] }, []);
    house.configure({ mcpServers: Object.fromEntries(NAMES.map((name) => [name, house.server.entry])) });
    for (const name of NAMES) await runProgram(house.home, ['mcp', 'test', name]);
    const { files, programs } = await traced();
    expect(offeredTools(house)).toEqual(expect.arrayContaining(NAMES.map((name) => `mcp__${name}__add`)));
    expect(programs).toBe(1);
    expect(files.filter((file) => file.includes('/dist/scripts/modelcontextprotocol'))).toEqual([]);
    expect(files.some((file) => file.includes('/dist/scripts/program'))).toBe(true);
    expect(house.server.starts()).toHaveLength(NAMES.length);
  });

  itTraced('without servers looks once for those of the project, and loads no code for them', async () => {
    house = await mcpHouse({}, []);
    house.configure({ mcpServers: {} });
    const { files } = await traced();
    expect(files.filter((file) => file.includes('.mcp.json'))).toHaveLength(1);
    expect(files.filter((file) => /modelcontextprotocol|cache\/mcp|mcp-/.test(file))).toEqual([]);
  });
});

describe('a server of the newer protocol', () => {
  it('may take more than three seconds for its first answer', async () => {
    house = await mcpHouse({ tools: [textTool('add')], modern: {} }, []);
    const { command, args } = house.server.entry;
    house.configure({
      mcpServers: { slow: { command: 'sh', args: ['-c', 'sleep 3.2; exec "$0" "$@"', command, ...args] } },
    });
    const run = await runProgram(house.home, ['mcp', 'test', 'slow']);
    expect(run).toMatchObject({ status: 0 });
    expect(run.stdout).toContain('add');
    expect(house.server.starts()).toHaveLength(1);
  });
});
