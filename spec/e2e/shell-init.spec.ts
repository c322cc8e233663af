import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM, runProgram } from '../support/program.js';
import { type Reply, type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { control, openTerminal, type Terminal } from '../support/terminal.js';

/** How each shell is started without the developer's own files, and how it takes the key bindings in. */
const SHELLS = {
  bash: { args: ['--norc', '--noprofile', '-i'], source: 'eval "$(hi shell-init bash)"' },
  zsh: { args: ['-f', '-i'], source: 'eval "$(hi shell-init zsh)"' },
  fish: { args: ['--no-config', '-i'], source: 'hi shell-init fish | source' },
} as const;

type Shell = keyof typeof SHELLS;

let home: Home;
let server: ScriptedServer;
let terminal: Terminal | undefined;
let reply: Reply;

beforeEach(async () => {
  server = await startScriptedServer(() => reply);
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
  mkdirSync(join(home.folder, 'bin'));
  symlinkSync(PROGRAM, join(home.folder, 'bin', 'hi'));
});

afterEach(async () => {
  await terminal?.close();
  terminal = undefined;
  await server.close();
  home.remove();
});

const isInstalled = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).error === undefined;
const ALT_H = '\x1bh';
const ALT_E = '\x1be';

async function open(shell: Shell, before = ''): Promise<Terminal> {
  const env = {
    ...home.env,
    LC_ALL: 'C.UTF-8',
    PATH: [join(home.folder, 'bin'), home.env.PATH].join(delimiter),
    PS1: '$ ',
    PROMPT: '$ ',
  };
  terminal = openTerminal(shell, SHELLS[shell].args, { env, cwd: home.work, columns: 100, rows: 30 });
  terminal.type(`${before}${SHELLS[shell].source}; echo rea''dy\r`);
  await terminal.until('ready', 20_000);
  return terminal;
}

/** The line under the cursor, without the prompt. */
const lineOf = ({ screen, cursor }: Terminal): string =>
  (screen().split('\n')[cursor().row] ?? '').replace(/^.*?[$>%#] /, '');

describe.each(Object.keys(SHELLS) as Shell[])('the key bindings in %s', (shell) => {
  it('are printed as a script that explains how to use it', async () => {
    const { stdout, status } = await runProgram(home, ['shell-init', shell]);
    expect(status).toBe(0);
    expect(stdout).toMatch(new RegExp(`^# Key bindings of hi for ${shell}: put .*hi shell-init ${shell}`, 'm'));
  });

  // A developer may lack a shell; .ci/run installs all three.
  if (!isInstalled(shell)) {
    it(`cannot be tested here: there is no ${shell}`, () => expect(isInstalled(shell)).toBe(false));
    return;
  }

  it("pass the shell's own check", async () => {
    home.write('script', (await runProgram(home, ['shell-init', shell])).stdout);
    const { status, stderr } = spawnSync(shell, ['-n', join(home.work, 'script')]);
    expect([status, stderr.toString()]).toEqual([0, '']);
  });

  it('replace the words with a command, and do not run it', async () => {
    reply = { text: '```sh\ntouch made; echo "$HOME"\n```' };
    const shown = await open(shell);
    shown.type(`make "the" $file; 'now' \\ here${ALT_H}`);
    await shown.until(() => lineOf(shown) === 'touch made; echo "$HOME"', 10_000);
    expect(server.requests[0]?.messages.at(-1)).toEqual({ role: 'user', content: `make "the" $file; 'now' \\ here` });
    expect(existsSync(join(home.work, 'made'))).toBe(false);
    shown.type('\r');
    await shown.until(() => existsSync(join(home.work, 'made')));
  });

  it('explain a command and leave it unchanged', async () => {
    reply = { text: 'Lists the files.\x1b[31m' };
    const shown = await open(shell);
    shown.type(`ls -la${ALT_E}`);
    await shown.until('Lists the files.␛[31m', 10_000);
    await shown.until(() => lineOf(shown) === 'ls -la');
  });

  it('leave the line unchanged if the model cannot be asked, and say why', async () => {
    reply = { status: 401, error: { message: 'Incorrect API key provided' } };
    const shown = await open(shell);
    shown.type(`show the disk${ALT_H}`);
    await shown.until(/hi: .*key/, 10_000);
    await shown.until(() => lineOf(shown) === 'show the disk');
  });

  it('accept words and return commands in any script', async () => {
    reply = { text: "echo 'Grüße, 日本'" };
    const shown = await open(shell);
    shown.type(`Grüße für 日本 é${ALT_H}`);
    await shown.until(() => lineOf(shown) === "echo 'Grüße, 日本'", 10_000);
    expect(server.requests[0]?.messages.at(-1)?.content).toBe('Grüße für 日本 é');
  });

  it('leave the line unchanged if there is no server', async () => {
    await server.close();
    const shown = await open(shell);
    shown.type(`show the disk${ALT_H}`);
    await shown.until(/hi: Nothing is listening/, 10_000);
    await shown.until(() => lineOf(shown) === 'show the disk');
  });

  it('leave the line unchanged after Ctrl-C', async () => {
    reply = { pieces: ['ls', ' -la'], hangAfter: 1 };
    const shown = await open(shell);
    shown.type(`show the disk${ALT_H}`);
    while (server.requests.length === 0) await sleep(20);
    shown.type(control('c'));
    await shown.until(() => lineOf(shown) === 'show the disk', 10_000);
    shown.type(`${control('u')}echo vis''ible\r`);
    await shown.until(/^visible$/m);
  });

  it('show what is asked, and run nothing that was typed while they wait', async () => {
    reply = { text: 'touch made', delay: 1000 };
    const shown = await open(shell);
    shown.type(`make it${ALT_H}`);
    await shown.until('scripted: make it', 10_000);
    shown.type('abc\r\r');
    await shown.until(() => lineOf(shown) === 'touch made', 10_000);
    await sleep(200);
    expect(lineOf(shown)).toBe('touch made');
    expect(shown.screen()).not.toContain('scripted:');
    expect(existsSync(join(home.work, 'made'))).toBe(false);
  });

  it('do nothing with an empty line', async () => {
    const shown = await open(shell);
    shown.type(`${ALT_H}${ALT_E}ec${control('a')}${control('e')}ho still he''re\r`);
    await shown.until('still here', 10_000);
    expect(server.requests).toEqual([]);
  });
});

describe('hi shell-init SHELL command', () => {
  it.each([
    ['ls -la', 'ls -la'],
    ['`ls -la`', 'ls -la'],
    ['$ ls -la', 'ls -la'],
    ['Here it is:\n```bash\nls -la\n```\nIt lists files.', 'ls -la'],
    ['~~~\nfor f in *; do\n  echo "$f"\ndone\n~~~', 'for f in *; do\n  echo "$f"\ndone'],
    ['echo `date`', 'echo `date`'],
    ['echo \x1b[2J', 'echo ␛[2J'],
  ])('extracts the command from %j', async (text, command) => {
    reply = { text };
    const run = await runProgram(home, ['shell-init', 'bash', 'command', '--', 'list files']);
    expect(run).toMatchObject({ status: 0, stdout: `${command}\n` });
  });

  it('neither reads nor writes the conversation, and offers no tools', async () => {
    reply = { text: 'The sky is blue.' };
    await runProgram(home, ['ask', 'a secret of mine']);
    const before = spawnSync('sha256sum', [home.historyFile]).stdout.toString();
    reply = { text: 'ls' };
    await runProgram(home, ['shell-init', 'zsh', 'command', '--', 'list', 'files']);
    expect(JSON.stringify(server.requests[1])).not.toContain('secret');
    expect(server.requests[1]).not.toHaveProperty('tools');
    expect(spawnSync('sha256sum', [home.historyFile]).stdout.toString()).toBe(before);
  });

  it('fails if there is no command in the answer, no line, or an unknown shell or task', async () => {
    reply = { text: '```\n```' };
    const empty = await runProgram(home, ['shell-init', 'bash', 'command', '--', 'x']);
    expect(empty).toMatchObject({ status: 5, stdout: '' });
    reply = { text: 'rm -rf /tmp/x', finish: 'length' };
    const cut = await runProgram(home, ['shell-init', 'bash', 'command', '--', 'x']);
    expect(cut).toMatchObject({ status: 5, stdout: '', stderr: expect.stringContaining('was cut off') });
    for (const args of [['bash', 'command'], ['ksh'], ['bash', 'run', '--', 'x']]) {
      expect(await runProgram(home, ['shell-init', ...args])).toMatchObject({ status: 2, stdout: '' });
    }
  });
});
