import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM, RUNTIME, runProgram } from '../support/program.js';
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
    env: { ...home.env, NODE: RUNTIME, HI: PROGRAM },
    cwd: home.work,
  });

describe('a named pipe', () => {
  beforeEach(() => void execFileSync('mkfifo', [inWork('pipe')]));

  it('is refused in a mention, with the option that reads it', async () => {
    const run = await hi(['chat'], 'see @pipe please\n');
    expect(run).toMatchObject({ status: 2, stdout: '' });
    expect(run.stderr).toBe(
      "hi: Cannot attach 'pipe': It is a named pipe.\n    Use hi ask -f, or cat it into a file; nothing was sent.\n",
    );
  });

  it('leaves the message in the prompt of the chat', async () => {
    const terminal = openTerminal(RUNTIME, [PROGRAM, 'chat'], { env: home.env, cwd: home.work });
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
  ])('that nobody writes to lets SIG%s end hi ask -f', async (signal, status) => {
    const script = `timeout --preserve-status -s ${signal} -k 8 2 "$NODE" "$HI" ask -f pipe x </dev/null; echo $?`;
    expect((await shell(script)).stdout).toBe(`${status}\n`);
    expect(server.requests).toEqual([]);
  });

  it('is read to its end by hi ask -f', async () => {
    const { stdout } = await shell('{ sleep 1; echo late words; } > pipe & "$NODE" "$HI" ask -f pipe x </dev/null');
    expect(stdout).toBe('ok\n');
    expect(lastSaid()).toContain('<file name="pipe">\nlate words\n</file>');
  });
});

describe('an endless source', () => {
  it.each([
    ['a process substitution', 'ask -f <(exec sleep 12 2>/dev/null) x </dev/null'],
    ['stdin', 'ask - < <(exec sleep 12 2>/dev/null)'],
  ])('is no longer read after Ctrl-C: %s', async (_what, command) => {
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
      "hi: Cannot attach 'large.txt': It has 31 MB, and the limit is 20 MB.\n" +
        '    Attach a smaller file or a part of it; nothing was sent.\n',
    );
  });

  it('is refused in words, without a system error code', async () => {
    symlinkSync('loop', inWork('loop'));
    const socket = createServer().listen(inWork('socket'));
    for (const [path, reason] of [
      ['loop', 'Too many symbolic links encountered.'],
      ['socket', 'It is a socket, not a file.'],
      ['/dev/zero', 'It is a device, not a file.'],
      ['missing/file', 'There is no such file.'],
    ] as const) {
      const { status, stderr } = await hi(['ask', '-f', path, 'x']);
      expect([status, stderr.split('\n')[0]]).toEqual([2, `hi: Cannot attach '${path}': ${reason}`]);
    }
    socket.close();
  });

  it('because the user may not read it is refused as a file, also in a folder without permission', async () => {
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

it('a folder after -f is listed, and a file after @ is no more than a word for hi ask, which says so', async () => {
  mkdirSync(inWork('src'));
  home.write('src/main.ts', 'main');
  home.write('my notes.txt', 'notes');
  const { stderr } = await hi(['ask', '-f', 'src', 'compare @src and', '@"my notes.txt"']);
  expect(stderr).toBe("Sent as text: @my notes.txt. To attach it, add: -f 'my notes.txt'\n");
  expect(JSON.stringify(server.requests[0]?.messages.at(-1)?.content)).toMatch(/<folder name=.*main\.ts.*compare @src/);
});

describe('/export', () => {
  it('into a missing folder names the folder, not a temporary file', async () => {
    const run = await hi(['chat'], 'question\n/export ro/sub/x.md\n');
    expect(run.status).toBe(2);
    expect(run.stderr).toContain(`The folder '${inWork('ro/sub')}' does not exist.`);
    expect(run.stderr).not.toContain('.new');
  });

  it('accepts a quoted path', async () => {
    mkdirSync(inWork('dd'));
    const run = await hi(['chat'], 'question\n/export "dd/my file.md"\n');
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(inWork('dd/my file.md'), 'utf8')).toContain('question');
  });
});

describe('--files0-from', () => {
  it('attaches the files that stdin lists, whatever their names are', async () => {
    home.write('a file.txt', 'first words');
    home.write("it's @$(x)\t.md", 'second words');
    home.write('-f', 'third words');
    home.write('two\nlines.txt', 'fourth words');
    home.write('given.txt', 'before them');
    const { stdout } = await shell(
      `find . -type f -print0 | sort -z | "$NODE" "$HI" ask -f given.txt --files0-from - "what is this?"`,
    );
    expect(stdout).toBe('ok\n');
    const content = server.requests.at(-1)?.messages.at(-1)?.content;
    const sent = JSON.stringify(content);
    for (const words of ['before them', 'first words', 'second words', 'third words', 'fourth words'])
      expect(sent).toContain(words);
    expect(sent.indexOf('before them')).toBeLessThan(sent.indexOf('first words'));
    expect(sent).not.toContain('<stdin>');
    expect(sent).toContain('what is this?');
  });

  it('takes names that are no UTF-8', async () => {
    writeFileSync(Buffer.concat([Buffer.from(`${home.work}/caf`), Buffer.from([0xe9])]), 'latin words');
    const { stdout } = await shell(`find . -name 'caf*' -print0 | "$NODE" "$HI" ask --files0-from - "what is this?"`);
    expect(stdout).toBe('ok\n');
    expect(JSON.stringify(server.requests.at(-1)?.messages)).toContain('latin words');
  });

  it('accepts one name with a newline, - as a file name, and reports an empty list', async () => {
    home.write('two\nlines.txt', 'fourth words');
    expect(await hi(['ask', '--files0-from', '-', 'q'], 'two\nlines.txt\0')).toMatchObject({ status: 0 });
    expect(JSON.stringify(server.requests.at(-1)?.messages)).toContain('fourth words');
    expect((await hi(['ask', '--files0-from', '-', 'q'], '-\0')).stderr).toContain("Cannot attach './-'");
    expect((await hi(['ask', '--files0-from', '-', 'q'], '')).stderr).toContain("'-' lists no files");
  });

  it('reads the list from a file, in addition to piped input', async () => {
    home.write('one.txt', 'first words');
    home.write('list', 'one.txt');
    expect(await hi(['ask', '--files0-from', 'list', 'and?'], 'piped\n')).toMatchObject({ status: 0 });
    expect(JSON.stringify(server.requests.at(-1)?.messages)).toMatch(/first words.*<stdin>\\npiped/);
  });

  it.each([
    ['a list of lines', 'one.txt\ntwo.txt\n', ['--files0-from', '-'], /'-' does not list files between NUL bytes/],
    ['an empty name', 'one.txt\0\0', ['--files0-from', '-'], /does not list files/],
    ['a file that is not there', 'gone.txt\0', ['--files0-from', '-'], /Cannot attach 'gone\.txt'/],
    ['stdin for two things', 'one.txt\0', ['--files0-from', '-', '-'], /cannot be both/],
    ['a list that is not there', '', ['--files0-from', 'nowhere'], /Cannot attach 'nowhere'/],
  ])('refuses %s, and sends nothing', async (_what, input, args, reason) => {
    home.write('one.txt', 'x');
    const run = await hi(['ask', ...args, 'question'], input);
    expect(run).toMatchObject({ status: 2, stdout: '' });
    expect(run.stderr).toMatch(reason);
    expect(server.requests).toEqual([]);
  });
});
