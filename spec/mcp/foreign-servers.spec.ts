import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { foreignPrograms, readForeignServers } from '../../lib/mcp/foreign-servers.js';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hi-foreign-'));
});
afterEach(() => rmSync(home, { recursive: true }));

const programOf = (name: string) => {
  const program = foreignPrograms().find((one) => one.name === name);
  if (program === undefined) throw new Error(`There is no program ${name}.`);
  return program;
};

/** What is read of a program whose file has this text. */
function servers(name: string, text: string) {
  const user = { home, env: {} };
  const path = programOf(name).file(user);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return readForeignServers(programOf(name), user, '/work/here');
}

describe('the servers of another program', () => {
  it('are those of Claude Code for the user and for the working folder', () => {
    const files = { type: 'stdio', command: 'npx', args: ['-y', 'files'], env: { TOKEN: `\${TOKEN:-none}` } };
    const projects = {
      '/work/here': { mcpServers: { far: { type: 'http', url: 'https://mcp.example.com/' } } },
      '/else': {},
    };
    expect(servers('claude', JSON.stringify({ numStartups: 3, mcpServers: { files }, projects }))).toEqual([
      { name: 'files', file: files, unused: [] },
      { name: 'far', file: { type: 'http', url: 'https://mcp.example.com/' }, unused: [] },
    ]);
  });

  it('are those of codex, with its headers, variables, tools and times', () => {
    const text = `model = "gpt-6"
[mcp_servers.files]
command = "npx"
args = ["-y", "files"]
env_vars = ["TOKEN"]
startup_timeout_sec = 20
tool_timeout_sec = 1.5
enabled_tools = ["read"]
[mcp_servers.files.env]
DEBUG = "1"
[mcp_servers."far away"]
url = "https://mcp.example.com/"
bearer_token_env_var = "FAR"
http_headers = { "X-Region" = "eu" }
env_http_headers = { "X-Key" = "KEY" }
enabled = false
required = true
`;
    expect(servers('codex', text)).toEqual([
      {
        name: 'files',
        file: {
          ...{ command: 'npx', args: ['-y', 'files'], env: { TOKEN: `\${TOKEN}`, DEBUG: '1' } },
          ...{ tools: { only: ['read'] }, timeout_ms: 1500, start_timeout_ms: 20_000 },
        },
        unused: [],
      },
      {
        name: 'far away',
        file: {
          url: 'https://mcp.example.com/',
          headers: { 'X-Region': 'eu', 'X-Key': `\${KEY}`, Authorization: `Bearer \${FAR}` },
          disabled: true,
        },
        unused: ['required'],
      },
    ]);
  });

  it('are those of Cursor and VS Code, with comments and their variables', () => {
    const cursor = `{ // mine
      "mcpServers": { "a": { "command": "\${userHome}/a", "env": { "K": "\${env:KEY}//x" }, }, /* no more */ },
    }`;
    expect(servers('cursor', cursor)).toEqual([
      { name: 'a', file: { command: `${home}/a`, env: { K: `\${KEY}//x` } }, unused: [] },
    ]);
    const code = {
      servers: { a: { command: 'a', envFile: '.env' }, b: { command: 'b', env: { T: `\${input:token}` } } },
    };
    expect(servers('vscode', JSON.stringify(code))).toEqual([
      { name: 'a', file: { command: 'a' }, unused: ['envFile'] },
      { name: 'b', problem: `has the value '\${input:token}', which means something else to hi` },
    ]);
  });

  it('are those of Gemini CLI, with its two kinds of address', () => {
    const mcpServers = {
      old: { url: 'https://a.example.com/', headers: { Authorization: 'Bearer $KEY' }, trust: true },
      new: { httpUrl: 'https://b.example.com/', timeout: 5000, excludeTools: ['drop'] },
    };
    expect(servers('gemini', JSON.stringify({ mcpServers }))).toEqual([
      {
        name: 'old',
        file: { type: 'sse', url: 'https://a.example.com/', headers: { Authorization: `Bearer \${KEY}` } },
        unused: ['trust'],
      },
      {
        name: 'new',
        file: { type: 'http', url: 'https://b.example.com/', tools: { not: ['drop'] }, timeout_ms: 5000 },
        unused: [],
      },
    ]);
  });

  it.each([
    ['a value that hi would run', { command: 'a', env: { K: '!pass show key' } }, '!pass show key'],
    ['a folder that only an editor knows', { command: 'a', args: [`\${workspaceFolder}`] }, 'workspaceFolder'],
    ['no program', { args: ['x'] }, 'no program or address'],
    ['an argument that is no text', { command: 'a', args: [1] }, 'no program or address'],
  ])('are left out for %s', (_what, entry, words) => {
    expect(servers('cursor', JSON.stringify({ mcpServers: { a: entry } }))).toEqual([
      { name: 'a', problem: expect.stringContaining(words) },
    ]);
  });

  it('are none without its file, and an error where it cannot be read', () => {
    expect(readForeignServers(programOf('codex'), { home, env: {} }, '/')).toBeNull();
    expect(() => servers('codex', 'a = [')).toThrow(/The servers of codex in '.*config\.toml' cannot be read/);
  });

  it('are read from any text without a value that hi would run', () =>
    fc.assert(
      fc.property(fc.constantFrom('claude', 'codex', 'cursor', 'vscode', 'gemini'), fc.jsonValue(), (name, value) => {
        const given = { mcpServers: { a: value }, servers: { a: value } };
        const found = servers(
          name,
          name === 'codex' ? `[mcp_servers]\na = ${JSON.stringify(String(value))}` : JSON.stringify(given),
        );
        for (const one of found ?? []) if ('file' in one) expect(JSON.stringify(one.file)).not.toMatch(/"!/);
      }),
      { numRuns: 60 },
    ));
});
