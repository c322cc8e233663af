import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM, RUNTIME, type Run, runProgram } from '../support/program.js';
import { type Reply, type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { openTerminal } from '../support/terminal.js';

// Put together here, so that no scanner takes this file for a leak.
const KEY = ['sk', 'CANARYkey1234567890bcdefghijk'].join('-');
const BASE64 = Buffer.from(KEY).toString('base64');

let server: ScriptedServer;
let home: Home;
const endings: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of endings.splice(0)) await end();
  await server?.close();
  home?.remove();
});

async function setUp(first: Reply, config: object = {}): Promise<void> {
  server = await startScriptedServer(({ messages }) => (messages.at(-1)?.role === 'tool' ? { text: 'done' } : first));
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base, api_key: KEY, ...config });
}

const stored = (): string => execFileSync('zstd', ['-dc', home.historyFile]).toString();
const bash = (command: string): Reply => ({ calls: [{ name: 'bash', args: { command } }] });

/** Everything but the header of the request, which has to have the key. */
const sentBodies = (): string => JSON.stringify(server.requests.map(({ messages }) => messages));

describe('the key', () => {
  it('that a server repeats in text or as an argument reaches neither the screen nor the history, and is not run', async () => {
    await setUp({
      pieces: ['Your key is sk-CANARYkey12345', '67890bcdefghijk, or ', BASE64.slice(0, 9), BASE64.slice(9), '!'],
      calls: [{ name: 'bash', args: { command: `echo ${KEY} > leak` } }],
    });
    const run = await runProgram(home, ['ask', '-y', 'go']);
    expect(run.stdout).toContain('Your key is [secret hidden by hi], or [secret hidden by hi]');
    for (const text of [run.stdout, run.stderr, stored(), sentBodies()]) {
      expect(text).not.toContain('CANARY');
      expect(text).not.toContain(BASE64.slice(0, 20));
    }
    expect(sentBodies()).toContain('stands for a secret that you cannot see');
  });

  it('that a command prints in two pieces is never on the screen', async () => {
    await setUp(
      bash(`printf %s sk-CANARYkey; sleep 0.4; printf '%s\\n' ${KEY.slice('sk-CANARYkey'.length)}; cat key64`),
    );
    home.write('key64', `${Buffer.from(`{"api_key":"${KEY}"}`).toString('base64')}\n`);
    const terminal = openTerminal(RUNTIME, [PROGRAM, 'ask', '-y', 'go'], { env: home.env, cwd: home.work });
    endings.push(() => terminal.close());
    await terminal.exit();
    const shown = terminal.written().replace(/▸ bash[^\n]*/, '');
    expect(shown).toContain('[secret hidden by hi]');
    expect(shown).not.toContain('CANARY');
    expect(sentBodies().match(/\[secret hidden by hi\]/g)?.length).toBe(2);
    expect(sentBodies()).not.toContain(Buffer.from('CANARYkey1234567').toString('base64').slice(2, 14));
  });

  it('is masked where output is cut', async () => {
    await setUp(bash('cat out'), { tools: { output_limit: 1000 } });
    home.write('out', `${'a'.repeat(485)}${KEY}${'b'.repeat(2000)}${KEY}${'c'.repeat(485)}`);
    await runProgram(home, ['ask', '-y', 'go']);
    expect(sentBodies()).toContain('characters left out');
    expect(sentBodies()).not.toMatch(/CANARY|sk-|hijk/);
  });

  it('is masked in a redirect', async () => {
    const redirecting = createServer((_request, response) => {
      response.writeHead(302, { location: `http://x.example/${KEY}/?k=${KEY}&p=secret` }).end();
    });
    endings.push(() => redirecting.close());
    await new Promise<void>((resolve) => redirecting.listen(0, '127.0.0.1', resolve));
    const { port } = redirecting.address() as AddressInfo;
    home = makeHome({ provider: 'openai', model: 'x', api_base: `http://127.0.0.1:${port}`, api_key: KEY });
    const run = await runProgram(home, ['ask', '--json', 'go']);
    expect(run.stderr).toContain("redirects to 'http://x.example/***/?k=***&p=***'");
    expect(run.stdout + run.stderr).not.toMatch(/CANARY|secret/);
  });

  it('and the password of an address are masked by hi config show', async () => {
    const api_base = 'http://user:hunter2@127.0.0.1:9/v1?key=abcdef123456';
    home = makeHome({
      provider: 'openai',
      model: 'x',
      api_base,
      api_key: KEY,
      small_model: { model: 'y', api_base, api_key: KEY },
    });
    const { stdout } = await runProgram(home, ['config', 'show']);
    const shown = JSON.parse(stdout);
    expect(shown.api_base).toBe('http://***@127.0.0.1:9/v1?key=***');
    expect(shown.small_model.api_base).toBe(shown.api_base);
    expect(stdout).not.toMatch(/hunter2|abcdef123456|CANARY/);
  });

  it('is not shown in the entries of MCP servers', async () => {
    const mcpServers = {
      notes: {
        command: 'npx',
        args: ['-y', 'notes', '--token', 'CANARY1', '--key=CANARY2'],
        env: { TOKEN: 'CANARY3' },
      },
      web: { url: 'https://u:CANARY4@x.example/mcp?token=CANARY5', headers: { Authorization: 'Bearer CANARY6' } },
    };
    home = makeHome({ provider: 'openai', model: 'x', api_key: KEY, mcpServers });
    const { stdout } = await runProgram(home, ['config', 'show']);
    expect(stdout).not.toContain('CANARY');
    expect(JSON.parse(stdout).mcpServers).toEqual({
      notes: { command: 'npx', args: ['-y', '***', '--token', '***', '--key=***'], env: { TOKEN: '***' } },
      web: { url: 'https://***@x.example/mcp?token=***', headers: { Authorization: '***' } },
    });
  });
});

describe('a key over plain http to another machine', () => {
  // Nothing leaves this machine: the proxy is a closed port of it.
  const env = { HTTP_PROXY: 'http://127.0.0.1:9' };
  const other = (config: object = {}): Home =>
    makeHome({ provider: 'openai', model: 'x', api_base: 'http://models.example:8000/v1', api_key: KEY, ...config });

  it('is reported once, and by hi config check', async () => {
    home = other();
    const warning = /The key is sent to 'models\.example:8000' over plain http/;
    expect((await runProgram(home, ['ask', 'go'], { env })).stderr).toMatch(warning);
    expect((await runProgram(home, ['ask', 'go'], { env })).stderr).not.toMatch(warning);
    expect((await runProgram(home, ['config', 'check'], { env })).stdout).toMatch(warning);
  });

  it('is refused with require_tls, before anything is sent', async () => {
    home = other({ require_tls: true });
    const run = await runProgram(home, ['ask', 'go'], { env });
    expect(run.status).toBe(3);
    expect(run.stderr).toContain("Not sent: the key would go to 'models.example:8000' over plain http");
    expect((await runProgram(home, ['config', 'check'], { env })).stdout).toContain('fail   key: Not sent');
  });

  it('is reported, and refused with require_tls, for an MCP server too', async () => {
    const mcpServers = { notes: { url: 'http://tools.example/mcp', headers: { Authorization: 'Bearer x' } } };
    home = other({ api_base: 'http://127.0.0.1:9/v1', mcpServers });
    const test = (): Promise<Run> => runProgram(home, ['mcp', 'test', 'notes'], { env });
    expect((await runProgram(home, ['config', 'check'], { env })).stdout).toContain(
      "sent to 'tools.example' over plain",
    );
    expect((await test()).stderr).not.toContain('Not sent');
    home.writeConfig(readFileSync(home.configFile, 'utf8').replace('{', '{"require_tls": true,'));
    expect((await test()).stderr).toContain("Not sent: the key would go to 'tools.example' over plain http");
  });

  it.each(['http://127.0.0.1:9/v1', 'http://localhost:9', 'http://[::1]:9', 'https://models.example/v1'])(
    'is not what %s is',
    async (api_base) => {
      home = other({ api_base, require_tls: true });
      const { stderr } = await runProgram(home, ['ask', 'go'], { env: { ...env, HTTPS_PROXY: env.HTTP_PROXY } });
      expect(stderr).not.toMatch(/plain http/);
    },
  );
});

describe('a private folder in the home folder', () => {
  it('is not read without approval when hi was started there', async () => {
    const names = [
      '.config/rclone/rclone.conf',
      '.m2/settings.xml',
      '.config/github-copilot/hosts.json',
      '.dev.vars',
      'prod.env',
    ];
    await setUp({ calls: names.map((path) => ({ name: 'read_file', args: { path } })) });
    const folder = home.folder;
    for (const name of names) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), 'CANARY');
    }
    const run = await runProgram(home, ['ask', 'go'], { cwd: folder });
    expect(run.stderr.match(/needs approval \(it is a private place/g)).toHaveLength(names.length);
    expect(sentBodies()).not.toContain('CANARY');
  });
});
