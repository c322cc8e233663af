import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, type Run, type RunOptions, runProgram } from '../support/program.js';
import { type Reply, type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';

let server: ScriptedServer | undefined;
let home: Home;

const hi = (args: readonly string[], options?: RunOptions) => runProgram(home, args, options);

async function answering(reply: Reply): Promise<void> {
  server = await startScriptedServer(() => reply);
  home = makeHome({ provider: 'openai', model: 'm', api_base: server.base, api_key: 'sk-the-secret-key-1234' });
}

/** What every failure has: its status, a message that names the thing, a next step, no stack, an empty stdout. */
function expectFailure(run: Run, status: number, ...words: readonly (string | RegExp)[]): void {
  expect(run.status).toBe(status);
  expect(run.stdout).toBe('');
  expect(run.stderr).toMatch(/^hi: \S/m);
  expect(run.stderr).toMatch(/^ {4}\S/m);
  expect(run.stderr).not.toMatch(/^\s+at .*[:(]\d+/m);
  expect(run.stderr).not.toContain('the-secret-key');
  for (const word of words) expect(run.stderr).toMatch(word);
}

afterEach(async () => {
  await server?.close();
  server = undefined;
  home?.remove();
});

describe('every failure has its message and exit status', () => {
  it("a key from a command in a tool's output: hidden, and the command runs once", async () => {
    server = await startScriptedServer((_request, index) =>
      index === 0
        ? { calls: [{ name: 'bash', args: { command: 'echo a-key-from""-a-command-3; cat count' } }] }
        : { text: 'done' },
    );
    home = makeHome({
      provider: 'openai',
      model: 'm',
      api_base: server.base,
      api_key: '!echo once >> count; echo a-key-from-a-command-3',
    });
    expect((await hi(['ask', '-y', 'x'])).status).toBe(0);
    expect(server.requests[1]?.messages.at(-1)?.content).toContain('"[secret hidden by hi]\\nonce\\n"');
  });

  it("escape sequences in a server's message: shown, not executed", async () => {
    await answering({ status: 400, error: { message: 'no \u001b[31mred\u009b2J' } });
    const { stderr } = await hi(['ask', 'x']);
    expect(stderr).toContain('[31mred');
    expect(stderr).not.toMatch(/[\u001b\u009b]/);
  });

  it('no configuration: 3, the expected path and two ways out', async () => {
    home = makeHome(null);
    expectFailure(await hi(['ask', 'x']), 3, home.configFile, /hi config init/, /OPENAI_API_KEY/);
  });

  it('a configuration nested too deeply: 3 and the reason', async () => {
    home = makeHome(null);
    home.writeConfig(`{"preamble":${'['.repeat(200_000)}${']'.repeat(200_000)}}`);
    expectFailure(await hi(['ask', 'x']), 3, home.configFile, /nested more than 100 levels deep/);
  });

  it('a configuration that is not JSON: 3 and the position', async () => {
    home = makeHome(null);
    home.writeConfig('{ "provider": openai }');
    expectFailure(await hi(['ask', 'x']), 3, home.configFile, /not valid JSON/);
  });

  it('an unknown provider in the file: 3 and the nearest name', async () => {
    home = makeHome({ provider: 'opnai' });
    expectFailure(await hi(['ask', 'x']), 3, /opnai/, /did you mean "openai"/);
  });

  it('an unknown provider on the command line: 3 and the nearest name', async () => {
    home = makeHome({ provider: 'openai' });
    expectFailure(await hi(['ask', '--provider', 'antropic', 'x']), 3, /antropic/, /Did you mean 'anthropic'/);
  });

  it.each(['openai', 'anthropic', 'gemini'])('no key for %s: 3 and where to put one', async (provider) => {
    home = makeHome({ provider });
    expectFailure(await hi(['ask', 'x']), 3, /key/i, /_API_KEY/);
  });

  it('an unknown option or command: 2 and the nearest name', async () => {
    home = makeHome({ provider: 'openai' });
    expectFailure(await hi(['ask', '--modle', 'x']), 2, /--modle/, /--model/);
    expectFailure(await hi(['histroy']), 2, /histroy/, /history/);
    expectFailure(await hi(['config', 'shwo']), 2, /shwo/, /show/);
  });

  it('nothing to ask: 2', async () => {
    home = makeHome({ provider: 'openai', api_key: 'k' });
    expectFailure(await hi(['ask']), 2, /No question given/);
  });

  it('a missing file: 2 and its path, before anything is sent', async () => {
    await answering({ text: 'ok' });
    expectFailure(await hi(['ask', '-f', 'missing.txt', 'x']), 2, /missing\.txt/);
    expect(server?.requests).toHaveLength(0);
  });

  it('an unreachable server: 5 and its address', async () => {
    home = makeHome({ provider: 'openai', model: 'm', api_base: 'http://127.0.0.1:9/v1' });
    expectFailure(await hi(['ask', 'x']), 5, /127\.0\.0\.1:9/);
  });

  it('a refused key: 4, and the next step', async () => {
    await answering({
      status: 401,
      error: { message: 'Incorrect API key provided: sk-the-secret-key-1234', code: 'invalid_api_key' },
    });
    expectFailure(await hi(['ask', 'x']), 4, /key/i);
  });

  it('a prompt that cannot fit the window: 6', async () => {
    await answering({ status: 400, error: { message: 'too long', code: 'context_length_exceeded' } });
    expectFailure(await hi(['ask', 'x']), 6, /window/);
  });

  it('a folder in place of the history: 7 and its path', async () => {
    await answering({ text: 'ok' });
    const { mkdirSync } = await import('node:fs');
    mkdirSync(home.historyFile, { recursive: true });
    expectFailure(await hi(['ask', 'x']), 7, home.historyFile);
  });

  it('as JSON if JSON was requested', async () => {
    await answering({ status: 401, error: { message: 'no' } });
    const run = await hi(['ask', '--json', 'x']);
    expect(run.status).toBe(4);
    expect(JSON.parse(run.stdout)).toEqual({
      error: { code: 'key', message: expect.any(String), hint: expect.any(String) },
    });
    const misuse = await hi(['ask', '-o', 'json', '--modle']);
    expect(misuse.status).toBe(2);
    expect(JSON.parse(misuse.stdout).error.code).toBe('usage');
  });

  it('treats what follows -- as words of the prompt, not as requests for JSON or a stack', async () => {
    home = makeHome({ provider: 'opnai' });
    expectFailure(await hi(['ask', '--', '--json']), 3, /opnai/);
    expectFailure(await hi(['ask', '--', '--debug']), 3, /opnai/);
  });

  it('keeps every stored message, and does not send a failed one again', async () => {
    let works = true;
    server = await startScriptedServer(() => (works ? { text: 'fine' } : { status: 401, error: { message: 'no' } }));
    home = makeHome({ provider: 'openai', model: 'm', api_base: server.base });
    await hi(['ask', 'one']);
    works = false;
    expect((await hi(['ask', 'two'])).status).toBe(4);
    works = true;
    await hi(['ask', 'three']);
    expect(server.requests.at(-1)?.messages.map(({ content }) => content)).toEqual(['one', 'fine', 'three']);
    const texts = execFileSync('zstd', ['-dc', home.historyFile]).toString();
    expect(texts).toContain('"two"');
    expect(existsSync(home.historyFile)).toBe(true);
  });

  it('shows the stack of an error only with --debug', async () => {
    home = makeHome({ provider: 'opnai' });
    expect((await hi(['ask', '--debug', 'x'])).stderr).toMatch(/^\s+at /m);
  });
});
