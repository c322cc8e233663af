import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { control, openTerminal } from '../support/terminal.js';

let server: ScriptedServer;
let home: Home;

beforeEach(async () => {
  server = await startScriptedServer(() => ({ text: 'ok' }));
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
});
afterEach(async () => {
  await server.close();
  home.remove();
});

const hi = (args: readonly string[], input?: string) => runProgram(home, args, input === undefined ? {} : { input });
const inWork = (name: string) => join(home.work, name);
const lastSaid = () => String(server.requests.at(-1)?.messages.at(-1)?.content);
/** Runs a script, which ends what it started after ten seconds, with `hi` in it. */
const shell = (script: string) =>
  promisify(execFile)('bash', ['-c', script], {
    env: { ...home.env, NODE: process.execPath, HI: PROGRAM },
    cwd: home.work,
  });

describe('a named pipe', () => {
  beforeEach(() => void execFileSync('mkfifo', [inWork('pipe')]));

  it('is refused in a mention, with the way that reads it', async () => {
    const run = await hi(['chat'], 'see @pipe please\n');
    expect(run).toMatchObject({ status: 2, stdout: '' });
    expect(run.stderr).toBe(
      "hi: Cannot attach 'pipe': It is a named pipe.\n    Use hi ask -f, or cat it into a file; nothing was sent.\n",
    );
  });

  it('leaves the message in the line of the chat', async () => {
    const terminal = openTerminal(process.execPath, [PROGRAM, 'chat'], { env: home.env, cwd: home.work });
    await terminal.until(/^hi> *$/m);
    terminal.type('see @pipe please\r');
    await terminal.until(/named pipe[\s\S]*^hi> see @pipe please$/m);
    terminal.type(control('c') + control('d'));
    expect(await terminal.exit()).toMatchObject({ status: 0 });
    await terminal.close();
  });

  it.each([
    ['INT', 130],
    ['TERM', 143],
  ])('to which nobody writes ends the reading by hi ask -f on SIG%s', async (signal, status) => {
    const script = `timeout --preserve-status -s ${signal} -k 8 2 "$NODE" "$HI" ask -f pipe x </dev/null; echo $?`;
    expect((await shell(script)).stdout).toBe(`${status}\n`);
    expect(server.requests).toEqual([]);
  });

  it('is read to its end by hi ask -f', async () => {
    const { stdout } = await shell('{ sleep 1; echo late words; } > pipe & "$NODE" "$HI" ask -f pipe x </dev/null');
    expect(stdout).toBe('ok');
    expect(lastSaid()).toContain('<file name="pipe">\nlate words\n</file>');
  });
});

describe('what never ends', () => {
  it.each([
    ['a process substitution', 'ask -f <(exec sleep 12 2>/dev/null) x </dev/null'],
    ['stdin', 'ask - < <(exec sleep 12 2>/dev/null)'],
  ])('stops being read on Ctrl-C: %s', async (_what, command) => {
    const { stdout } = await shell(`timeout --preserve-status -s INT -k 8 2 "$NODE" "$HI" ${command}; echo $?`);
    expect(stdout).toBe('130\n');
  });
});

describe('what cannot be attached', () => {
  it.each([
    ['ask', '-f', 'large.txt'],
    ['chat', '@', 'large.txt'],
  ])('because it is too large is refused with its size and the limit, in hi %s', async (command) => {
    home.write('large.txt', '');
    truncateSync(inWork('large.txt'), 30 * 1024 * 1024);
    const run = command === 'ask' ? await hi(['ask', '-f', 'large.txt', 'x']) : await hi(['chat'], 'see @large.txt\n');
    expect(run).toMatchObject({ status: 2, stdout: '' });
    expect(run.stderr).toBe(
      "hi: Cannot attach 'large.txt': It has 30.0 MB, and the limit is 20 MB.\n" +
        '    Attach a smaller file or a part of it; nothing was sent.\n',
    );
  });

  it('is refused in words, with no code of the system', async () => {
    symlinkSync('loop', inWork('loop'));
    const socket = createServer().listen(inWork('socket'));
    for (const [path, reason] of [
      ['loop', 'Too many symbolic links encountered.'],
      ['socket', 'It is a socket, not a file.'],
      ['/dev/zero', 'It is a device, not a file.'],
      ['missing/file', 'There is no such file.'],
      ['.', 'It is a folder.'],
    ] as const) {
      const { status, stderr } = await hi(['ask', '-f', path, 'x']);
      expect([status, stderr.split('\n')[0]]).toEqual([2, `hi: Cannot attach '${path}': ${reason}`]);
    }
    socket.close();
  });

  it('because the user may not read it is refused as a file, also in a folder that may not be entered', async () => {
    home.write('secret.txt', 'x');
    mkdirSync(inWork('locked'));
    writeFileSync(inWork('locked/f'), 'x');
    await shell(
      'chmod 0 secret.txt locked; chmod 755 "$HOME" .; chmod 755 "$HI_CONFIG_DIR"; chmod 644 "$HI_CONFIG_DIR"/*',
    );
    const asNobody =
      process.getuid?.() === 0 ? 'setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all' : '';
    const folders = 'export HI_DATA_DIR="$PWD/d" HI_CACHE_DIR="$PWD/c"; mkdir -m 777 d c';
    for (const [name, what] of [
      ['secret.txt', 'attach'],
      ['locked/f', 'attach'],
      ['locked', 'list'],
    ]) {
      const { stdout } = await shell(
        `${folders} 2>/dev/null; echo 'see @${name}.' | ${asNobody} "$NODE" "$HI" chat 2>&1; true`,
      );
      expect(stdout).toContain(`hi: Cannot ${what} '${name}': Permission denied.`);
      expect(stdout).toMatch(/ls -ld.*nothing was sent/is);
    }
    await shell('chmod 700 locked');
  });
});

describe('/export', () => {
  it('into a folder that is missing names the folder, and no file of its own', async () => {
    const run = await hi(['chat'], 'question\n/export ro/sub/x.md\n');
    expect(run.status).toBe(2);
    expect(run.stderr).toContain(`The folder '${inWork('ro/sub')}' does not exist.`);
    expect(run.stderr).not.toContain('.new');
  });

  it('takes a quoted path', async () => {
    mkdirSync(inWork('dd'));
    const run = await hi(['chat'], 'question\n/export "dd/my file.md"\n');
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(inWork('dd/my file.md'), 'utf8')).toContain('question');
  });
});
