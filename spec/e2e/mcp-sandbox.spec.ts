import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { pathWithoutSandbox } from '../support/attack.js';
import { asked, type McpHouse, mcpHouse, offeredTools, toolResults } from '../support/mcp-house.js';
import { runProgram } from '../support/program.js';
import { textTool, toolServer } from '../support/tool-server.js';
import { itWhere } from '../support/where.js';

/** Whether this system lets bubblewrap make namespaces. */
const WORKS = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', 'true']).status === 0;
const itConfined = itWhere(WORKS, 'bubblewrap cannot be used here');

const BARE_PATH = pathWithoutSandbox();
afterAll(() => rmSync(BARE_PATH, { recursive: true, force: true }));

let house: McpHouse;
afterEach(() => house?.close());

const TRY = { name: 'mcp__notes__try', args: { text: 'all' } };
const PERMISSIONS = { allow: ['mcp__notes__*'], deny: ['read_file(*.denied)'] };

/**
 * A user with a server whose files are all in the working folder, for /tmp is empty in the sandbox, that does `tries`
 * and says what came of it.
 */
async function confinedHouse(tries: (at: (path: string) => string, base: string) => object, entry: object = {}) {
  house = await mcpHouse({}, [TRY]);
  const { home, model } = house;
  const at = (path: string): string => join(home.work, path);
  const results = { try: { tries: tries(at, model.server.base) } };
  const server = toolServer(home.work, 'notes', { tools: [textTool('try')], results });
  const [program = '', ...others] = server.entry.args;
  const copy = at('tool-server.mjs');
  copyFileSync(program, copy);
  const args = [copy, ...others];
  house.configure({ tools: { permissions: PERMISSIONS } }, { ...server.entry, args, sandbox: true, ...entry });
}

const triedIn = (): Readonly<Record<string, string>> => JSON.parse(JSON.parse(toolResults(house)[0] ?? '{}').content);

describe('a server in the sandbox', () => {
  itConfined('reads what is not private, writes only to /tmp, and reaches the network', async () => {
    await confinedHouse((at, base) => ({
      reads: [at('plain.txt'), at('.env'), at('keys/id_rsa'), at('own/secret.txt'), at('link.txt'), at('a.denied')],
      writes: [at('new.txt'), at('plain.txt.2'), '/tmp/new.txt'],
      fetches: [`${base}/models`],
    }));
    const { home } = house;
    for (const folder of ['keys', 'own']) mkdirSync(join(home.work, folder));
    for (const path of ['.env', 'keys/id_rsa', 'own/secret.txt', 'a.denied']) home.write(path, 'SECRET');
    home.write('plain.txt', 'plain');
    symlinkSync(join(home.work, '.env'), join(home.work, 'link.txt'));
    const run = await house.ask([], { env: { HI_DATA_DIR: join(home.work, 'own') } });
    expect(run).toMatchObject({ status: 0, stdout: 'done\n' });
    expect(JSON.stringify(triedIn())).not.toContain('SECRET');
    expect(Object.values(triedIn()).map(String)).toEqual([
      'plain',
      expect.stringMatching(/^$|^E/),
      expect.stringMatching(/^$|^E/),
      'ENOENT',
      expect.stringMatching(/^$|^E/),
      expect.stringMatching(/^$|^E/),
      'EROFS',
      'EROFS',
      'written',
      expect.stringMatching(/^status \d+$/),
    ]);
    expect(existsSync(join(home.work, 'new.txt'))).toBe(false);
    expect(house.running()).toEqual([]);
  });

  itConfined('is confined by hi mcp test too, and ends with it', async () => {
    await confinedHouse((at) => ({ writes: [at('new.txt')] }));
    const call = 'try={"text":"all"}';
    const run = await runProgram(house.home, ['mcp', 'test', 'notes', '--call', call]);
    expect(run.stdout).toContain('EROFS');
    expect(existsSync(join(house.home.work, 'new.txt'))).toBe(false);
    expect(house.running()).toEqual([]);
  });

  itConfined('cannot replace the sandbox with its own program', async () => {
    const env = { PATH: '.:/usr/local/bin:/usr/bin:/bin', LD_PRELOAD: '' };
    await confinedHouse((at) => ({ writes: [at('new.txt')] }), { env });
    const { home } = house;
    home.write('bwrap', '#!/bin/sh\ntouch "$PWD/escaped"\n');
    chmodSync(join(home.work, 'bwrap'), 0o755);
    expect(asked(await house.ask())).toMatchObject({ status: 0 });
    expect(triedIn()).toEqual({ [join(home.work, 'new.txt')]: 'EROFS' });
    expect(existsSync(join(home.work, 'escaped'))).toBe(false);
  });

  itConfined('sees no private folder for starting in it: its entry has to open it', async () => {
    for (const [read, isStarted] of [
      [undefined, false],
      [['../.ssh'], true],
    ] as const) {
      await confinedHouse((at) => ({ reads: [at('../.ssh/id_rsa')] }), { cwd: '../.ssh', read });
      mkdirSync(join(house.home.folder, '.ssh'));
      house.home.write('../.ssh/id_rsa', 'SECRET');
      const run = await house.ask();
      expect([read, run.stderr.includes('does not exist in the sandbox')]).toEqual([read, !isStarted]);
      if (isStarted) expect(Object.values(triedIn())).toEqual(['SECRET']);
      await house.close();
    }
  });

  it('is not started if there is no sandbox, with the reason and what to do', async () => {
    await confinedHouse(() => ({}));
    const run = await house.ask([], { env: { PATH: BARE_PATH } });
    expect(run).toMatchObject({ status: 0, stdout: 'done\n' });
    expect(run.stderr).toContain(
      "The server 'notes': Not started: bubblewrap cannot be used here: it is not installed. Install bubblewrap (Debian: apt install bubblewrap), or remove \"sandbox\" from the server's entry.",
    );
    expect(offeredTools(house, 0)).not.toContain('mcp__notes__try');
    expect(existsSync(join(house.home.work, 'notes.json.log'))).toBe(false);
  });
});

describe('a required sandbox', () => {
  it('for a URL is an error, not ignored', async () => {
    house = await mcpHouse({}, []);
    house.configure({ mcpServers: { far: { url: 'http://127.0.0.1:9/mcp', sandbox: true } } });
    const run = await house.ask();
    expect(asked(run)).toEqual({ status: 0, called: 0 });
    expect(run.stderr).toContain("The server 'far' in mcpServers has sandbox, which is for programs, and a url");
  });

  it.each([
    ['true', true, 'waiting for your approval'],
    ['something else', 'yes', "The server 'local' in '.mcp.json' cannot be read."],
  ])("in a project's file is used, or the entry is refused: %s", async (_title, sandbox, said) => {
    house = await mcpHouse({}, []);
    house.configure({ mcpServers: {} });
    house.home.write('.mcp.json', JSON.stringify({ mcpServers: { local: { ...house.server.entry, sandbox } } }));
    const { stdout, stderr } = await runProgram(house.home, ['mcp', 'list']);
    expect(stdout + stderr).toContain(said);
  });
});
