import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { openTerminal } from '../support/terminal.js';

let folder: string;
let server: ScriptedServer;
let home: Home;

/** A PATH with the programs that Alpine has, and no bash. */
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hi-path-'));
  for (const name of ['sh', 'cat', 'ls', 'node', 'zstd'])
    symlinkSync(execFileSync('which', [name], { encoding: 'utf8' }).trim(), join(folder, name));
  const run = (command: string) => ({ name: 'bash', args: { command } });
  server = await startScriptedServer((_request, index) =>
    index === 0
      ? { calls: [run('x=1; cd sub && echo "in $0" $x; exit 3'), run('a+=./x; ls {a,b}')] }
      : { text: 'done' },
  );
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
  mkdirSync(join(home.work, 'sub'));
  home.write('sub/x', 'a file\n');
});
afterEach(async () => {
  await server.close();
  home.remove();
  rmSync(folder, { recursive: true, force: true });
});

const results = () =>
  (server.requests.at(-1)?.messages ?? []).filter(({ role }) => role === 'tool').map(({ content }) => String(content));

describe('without bash', () => {
  it('commands run in sh, and the model and the user are told', async () => {
    expect((await runProgram(home, ['ask', '-y', 'go'], { env: { PATH: folder } })).status).toBe(0);
    expect(JSON.stringify(server.requests[0])).toContain('Runs a command in sh');
    expect(JSON.parse(results()[0] ?? '')).toMatchObject({
      stdout: expect.stringMatching(/^in \/\S+\/sh 1\n$/),
      exit_code: 3,
      working_folder: expect.stringMatching(/sub$/),
    });
    const check = await runProgram(home, ['config', 'check'], { env: { PATH: folder } });
    expect(check.stdout + check.stderr).toMatch(/commands run in sh/);
  });

  it('rules do not allow commands that other shells parse differently', async () => {
    const permissions = { allow: ['bash(ls:*)', 'bash(echo:*)', 'bash(cd:*)', 'bash(exit:*)'], ask: [], deny: [] };
    writeFileSync(
      home.configFile,
      JSON.stringify({ provider: 'openai', model: 'scripted', api_base: server.base, tools: { permissions } }),
    );
    await runProgram(home, ['ask', 'go'], { env: { PATH: folder } });
    expect(results()[1]).toContain('sh may parse it differently');
  });

  it("the user's own commands run in sh too", async () => {
    const { stdout } = await runProgram(home, ['chat'], { env: { PATH: folder }, input: '!echo "in $0"\n/tools\n' });
    expect(stdout).toContain('in sh');
    expect(stdout).toContain('Runs a command in sh');
  });

  it.each([['no less'], ['the less of BusyBox']])('hi history prints on the terminal itself with %s', async (which) => {
    if (which !== 'no less') {
      writeFileSync(join(folder, 'busybox'), '#!/bin/sh\necho "unknown option" >&2; exit 1\n', { mode: 0o755 });
      symlinkSync('busybox', join(folder, 'less'));
    }
    await runProgram(home, ['ask', '-y', 'go'], { env: { PATH: folder } });
    const terminal = openTerminal(RUNTIME, [PROGRAM, 'history'], {
      env: { ...home.env, PATH: folder },
      cwd: home.work,
      columns: 100,
      rows: 60,
    });
    try {
      expect(await terminal.exit()).toMatchObject({ status: 0 });
      expect(terminal.screen()).toMatch(/you · .*\ngo\n[\s\S]*\ndone/);
      expect(terminal.screen()).not.toMatch(/less: not found|unknown option/);
    } finally {
      await terminal.close();
    }
  });
});
