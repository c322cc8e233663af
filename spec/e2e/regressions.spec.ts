import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM, RUNTIME, type RunOptions, runProgram } from '../support/program.js';
import { type Reply, type ScriptedServer, type SentRequest, startScriptedServer } from '../support/scripted-server.js';
import { openTerminal } from '../support/terminal.js';
import { itOnNode } from '../support/where.js';

let server: ScriptedServer;
let home: Home;

async function setUp(answer: (request: SentRequest, index: number) => Reply, more: object = {}): Promise<void> {
  server = await startScriptedServer(answer);
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base, ...more });
}

const hi = (args: readonly string[], options?: RunOptions) => runProgram(home, args, options);
const shell = (script: string) =>
  promisify(execFile)('bash', ['-c', `hi() { "${RUNTIME}" "${PROGRAM}" "$@"; }\n${script}`], {
    env: home.env,
    cwd: home.work,
    timeout: 20_000,
  });

afterEach(async () => {
  await server?.close();
  home?.remove();
});

describe('what was broken once', () => {
  it.each(['js', 'json', 'ts', 'tsx', 'jsx'])('shows a fence of %s on a terminal', async (language) => {
    await setUp(() => ({ text: `\`\`\`${language}\nconst a = { b: 1 };\n\`\`\`\n` }));
    const terminal = openTerminal(RUNTIME, [PROGRAM, 'ask', 'x'], { env: home.env, cwd: home.work });
    expect(await terminal.exit()).toMatchObject({ status: 0 });
    expect(terminal.screen()).toContain('const a = { b: 1 };');
    await terminal.close();
  });

  it('accepts options before the command as well as after it', async () => {
    await setUp(() => ({ text: 'ok' }));
    await hi(['--no-tools', 'ask', 'x']);
    expect(server.requests[0]?.tools ?? []).toEqual([]);
    expect(JSON.parse((await hi(['-o', 'json', 'ask', 'x'])).stdout)).toMatchObject({ text: 'ok' });
    home.write('note.txt', 'from the note');
    await hi(['-f', 'note.txt', 'ask', 'x']);
    expect(server.requests[2]?.messages.at(-1)?.content).toContain('from the note');
    expect((await hi(['--tools', 'foo', 'ask', 'x'])).status).toBe(2);
  });

  it('does not report a closed pipe as an error, whatever was printed', async () => {
    await setUp(() => ({ text: 'many words\n'.repeat(20_000) }));
    await hi(['ask', 'x']);
    for (const form of ['', '--json', '--md', '--find words']) {
      const { stdout, stderr } = await shell(
        `hi history ${form} </dev/null | head -c 10 >/dev/null; echo "\${PIPESTATUS[0]}"`,
      );
      expect([stdout, stderr]).toEqual(['0\n', '']);
    }
  });

  it('neither waits for a pipe without a writer nor reads a device', async () => {
    await setUp((_request, index) =>
      index === 0 ? { calls: [{ name: 'read_file', args: { path: 'pipe' } }] } : { text: 'ok' },
    );
    execFileSync('mkfifo', [join(home.work, 'pipe')]);
    expect(await hi(['ask', 'x'])).toMatchObject({ status: 0, stdout: 'ok\n' });
    expect((await hi(['ask', '-f', '/dev/zero', 'x'])).stderr).toContain('device');
    const { stdout } = await shell(`hi ask -f <(echo from a command) x </dev/null`);
    expect(stdout).toBe('ok\n');
    expect(JSON.stringify(server.requests.at(-1)?.messages.at(-1)?.content)).toContain('from a command');
  });

  it('leaves no trace of the conversation after a purge', async () => {
    await setUp(() => ({ text: 'secret answer' }));
    const terminal = openTerminal(RUNTIME, [PROGRAM], { env: home.env, cwd: home.work });
    await terminal.until(/^hi>/m);
    terminal.type('secret question\r');
    await terminal.until('secret answer');
    terminal.type('\x04');
    await terminal.exit();
    await terminal.close();
    await hi(['reset', '-y', '--purge']);
    const left = execFileSync('bash', ['-c', `grep -rl secret "${home.folder}" || true`]).toString();
    expect(left).toBe('');
  });

  it('names what the system refuses, without a stack', async () => {
    await setUp(() => ({ text: 'ok' }));
    mkdirSync(join(home.folder, 'cache', 'debug.log'), { recursive: true });
    const traced = await hi(['--debug', 'ask', 'x']);
    expect(traced.status).toBe(3);
    expect(traced.stderr).toContain('debug.log');
    const full = await shell('hi ask x </dev/null >/dev/full; echo $?');
    expect(full.stdout).toBe('1\n');
    expect(full.stderr).toMatch(/^hi: Cannot write the output: .*ENOSPC/m);
    expect(full.stderr).not.toMatch(/^\s+at /m);
  });

  // Bun itself refuses to start there.
  itOnNode('answers in a deleted folder', async () => {
    await setUp(() => ({ text: 'ok' }));
    const gone = await shell('mkdir gone && cd gone && rmdir ../gone && hi ask x </dev/null');
    expect(gone.stdout).toBe('ok\n');
  });

  it('reports a line break or a typographic quote in a key', async () => {
    await setUp(() => ({ text: 'ok' }), { api_key: 'sk-SECRETA\nSECRETB' });
    const run = await hi(['ask', 'x']);
    expect(run.status).toBe(3);
    expect(run.stderr).toContain('U+000A');
    expect(run.stderr).not.toContain('SECRET');
  });

  it('names an unknown command that has arguments', async () => {
    await setUp(() => ({}));
    const run = await hi(['aks', 'hello', 'there']);
    expect(run.status).toBe(2);
    expect(run.stderr).toMatch(/^hi: Unknown command 'aks'\.\n {4}Did you mean 'ask'\?.* hi ask "…"/);
    expect((await hi(['history', 'extra'])).stderr).not.toContain('..');
  });

  it.each([
    [['help', 'nosuch'], "Unknown command 'nosuch'"],
    [['help', 'mcp', 'ad'], "Did you mean 'add'"],
    [['what', 'is', 'the', 'time'], 'run: hi ask "what is the time"'],
    [["what's $1?"], "run: hi ask 'what'\\''s $1?'"],
    [['undo'], "Run 'hi', then type: /undo"],
    [['chat', 'good', 'morning'], 'run: hi ask "good morning"'],
    [['config', 'sett', 'model', 'x'], "Did you mean 'set'"],
    [['find', 'my', 'keys'], 'In the chat it is /find. To ask it as a question, run: hi ask "find my keys"'],
    [['config', 'set', 'model'], "Run 'hi config set --help'"],
  ])('names what was meant by hi %s', async (words, said) => {
    await setUp(() => ({}));
    const run = await hi(words);
    expect(run.status).toBe(2);
    expect(run.stdout).toBe('');
    expect(run.stderr).toContain(said);
  });

  it('attaches an image from stdin, and refuses other binary content', async () => {
    await setUp(() => ({ text: 'ok' }));
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    await shell(`echo ${pixel} | base64 -d | hi ask look`);
    expect(JSON.stringify(server.requests[0]?.messages.at(-1)?.content)).toContain('image_url');
    await expect(shell(`printf 'a\\000b' | hi ask look`)).rejects.toMatchObject({ code: 2 });
    expect(server.requests).toHaveLength(1);
  });

  it('does not send what cannot possibly fit', async () => {
    await setUp(() => ({ text: 'ok' }), { context_window: 4000 });
    const run = await hi(['ask', 'x'], { input: 'many words '.repeat(4000) });
    expect(run.status).toBe(6);
    expect(server.requests).toHaveLength(0);
  });

  it('warns once about a file mode that is too open', async () => {
    await setUp(() => ({ text: 'ok' }));
    execFileSync('chmod', ['644', home.configFile]);
    expect((await hi(['ask', 'x'])).stderr).toContain('chmod 600');
    expect((await hi(['ask', 'x'])).stderr).toBe('');
  });

  it('refuses an empty model and an empty question', async () => {
    await setUp(() => ({ text: 'ok' }));
    expect((await hi(['ask', '-m', '', 'x'])).status).toBe(2);
    expect((await hi(['ask', '   '])).status).toBe(2);
    expect(existsSync(home.historyFile)).toBe(false);
  });

  it('writes requests and answers to the log of --debug, without the key', async () => {
    await setUp(() => ({ text: 'ok' }), { api_key: 'sk-very-secret-key-42' });
    await hi(['--debug', 'ask', 'what is logged']);
    const log = readFileSync(join(home.folder, 'cache', 'debug.log'), 'utf8');
    expect(log).toContain('what is logged');
    expect(log).not.toContain('very-secret');
  });
});
