import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import { type PullingOllama, type PullingOptions, pullingOllama } from '../support/pulling-ollama.js';
import { control, KEY, openTerminal, type Terminal } from '../support/terminal.js';

const OFFER = 'it has no model yet. Which one should it download?';
const PROMPT = /^hi> *$/m;
const SIZES = { 'llama3.2': 2_019_393_189, 'tiny:1m': 1_200_000 };

const ROOT = resolve(import.meta.dirname, '../..');
const START = resolve(ROOT, 'scripts/run.js');

let home: Home;
let terminal: Terminal;
let ollama: PullingOllama;

async function start(
  args: readonly string[],
  options: Partial<PullingOptions> = {},
  config: unknown = null,
  command: readonly string[] = [RUNTIME, PROGRAM],
) {
  ollama = await pullingOllama({ sizes: SIZES, ...options });
  home = makeHome(config);
  again(args, command);
}

function again(args: readonly string[], [file = '', ...before]: readonly string[] = [RUNTIME, PROGRAM]): void {
  terminal = openTerminal(file, [...before, ...args], {
    env: { ...home.env, OLLAMA_HOST: ollama.url },
    cwd: before[0] === START ? ROOT : home.work,
    columns: 100,
    rows: 40,
  });
}

async function answer(question: string | RegExp, typed = ''): Promise<void> {
  await terminal.until(question, 20_000);
  terminal.type(`${typed}${KEY.enter}`);
}

afterEach(async () => {
  await terminal?.close();
  await ollama?.[Symbol.asyncDispose]();
  home?.remove();
});

describe('with an Ollama that has no model', () => {
  it.each([[[]], [['chat']]])(
    'hi %j offers one with its size, downloads it with a bar, and goes on into the chat',
    async (args) => {
      await start(args, { pause: 300, steps: 6 });
      await terminal.until('❯ llama3.2: 2 GB');
      expect(ollama.asked).toEqual([]);
      await answer(OFFER);
      await terminal.until(/Downloading llama3\.2 ▕█+░+▏ \d+% · \S+ \w+ of 2 GB · \S+ .B\/s · \S+ left/, 20_000);
      await terminal.until(PROMPT, 20_000);
      expect(terminal.screen()).toMatch(/Downloaded llama3\.2: 2 GB in \d/);
      expect(terminal.screen()).not.toContain('▕');
      expect(JSON.parse(readFileSync(home.configFile, 'utf8'))).toMatchObject({
        provider: 'ollama',
        model: 'llama3.2',
      });
      terminal.type(`hello${KEY.enter}`);
      await terminal.until(/Now I am here\.\n+hi> *$/);
      expect(ollama.asked.filter((one) => one.startsWith('/api/pull'))).toEqual(['/api/pull llama3.2']);
    },
  );

  it('npm start behaves like hi', async () => {
    await start([]);
    await answer(OFFER);
    await terminal.until(PROMPT, 20_000);
    const alike = terminal.screen();
    await terminal.close();
    home.remove();
    await ollama[Symbol.asyncDispose]();
    await start([], {}, null, [process.execPath, START, 'start']);
    await answer(OFFER);
    await terminal.until(PROMPT, 20_000);
    const untimed = (screen: string): string => screen.replace(/in \S+s\./, '').replace(/hi-spec-\w+/, '');
    expect(untimed(terminal.screen())).toBe(untimed(alike));
  });

  it('hi ask downloads one and then answers the question', async () => {
    await start(['ask', 'what is the time?']);
    await answer(OFFER);
    await terminal.until('Now I am here.', 20_000);
    expect(await terminal.exit()).toMatchObject({ status: 0 });
    expect(existsSync(home.configFile)).toBe(false);
    expect((await runProgram(home, ['history', '--json'])).stdout).toContain('what is the time?');
  });

  it('offers the same if the configuration only names the server', async () => {
    await start(['chat'], {}, { provider: 'ollama' });
    await answer(OFFER);
    await terminal.until(PROMPT, 20_000);
    terminal.type(control('d'));
    expect(await terminal.exit()).toMatchObject({ status: 0 });
  });

  it('resumes a download that Ctrl-C stopped', async () => {
    await start(['ask', 'hello'], { pause: 120, steps: 10 });
    await answer(OFFER);
    await terminal.until(/▏ [23]\d%/, 20_000);
    terminal.type(control('c'));
    expect(await terminal.exit()).toMatchObject({ status: 130 });
    expect(terminal.screen()).toMatch(/The download of llama3\.2 was stopped at \d+%\. What was downloaded is kept/);
    expect(terminal.screen()).not.toContain('▕');
    const had = ollama.has('llama3.2');
    expect(had).toBeGreaterThanOrEqual(2);
    again(['ask', 'hello']);
    await answer(OFFER);
    await terminal.until(/▏ [2-9]\d%/, 20_000);
    expect(terminal.written()).not.toMatch(/▏ [01]?\d%/);
    await terminal.until('Now I am here.', 20_000);
    expect(await terminal.exit()).toMatchObject({ status: 0 });
  });

  it('shows the size of a model that the user names before the download, or says that it does not exist', async () => {
    await start(['ask', 'hello']);
    await answer(OFFER, KEY.up + KEY.up);
    await answer('Name of the model', 'nonesuch');
    await terminal.until("Ollama could not download 'nonesuch': pull model manifest: file does not exist.", 20_000);
    await answer(/not exist[\s\S]*Which one should it download/, KEY.up + KEY.up);
    await answer(/Name of the model.*\n*(?![\s\S]*nonesuch)/, 'tiny:1m');
    await answer('tiny:1m has 1.2 MB. Download it?');
    await terminal.until('Now I am here.', 20_000);
    expect(ollama.asked.at(-1)).toBe('/api/chat tiny:1m:latest');
  });

  it.each([
    [
      'the server says',
      { at: 2, error: 'max retries exceeded: EOF' },
      /could not download 'llama3\.2': max retries exceeded: EOF\./,
    ],
    ['the connection breaks with', { at: 2, error: null }, /hi: [\s\S]*127\.0\.0\.1/],
  ])('offers again after a download that %s, and resumes it', async (_, failure, said) => {
    await start(['ask', 'hello'], { failure, pause: 60 });
    await answer(OFFER);
    await terminal.until(said, 20_000);
    await answer(/hi: [\s\S]*Which one should it download/);
    await terminal.until('Now I am here.', 20_000);
    expect(await terminal.exit()).toMatchObject({ status: 0 });
  });

  it('sets up another provider instead', async () => {
    await start([]);
    await answer(OFFER, KEY.up);
    await terminal.until('Which provider do you want to use?', 20_000);
    expect(terminal.screen()).toContain('Ollama (running, but it has no model yet)');
    expect(ollama.asked).toEqual([]);
  });

  it('says how to get a model if the user declines, and if nobody can be asked', async () => {
    await start(['ask', 'hello']);
    await answer(OFFER, KEY.up);
    expect(await terminal.exit()).toMatchObject({ status: 3 });
    expect(terminal.screen()).toMatch(/has no model\.\n[\s\S]*ollama pull llama3\.2/);
    const alone = await runProgram(home, ['ask', 'hello'], { env: { OLLAMA_HOST: ollama.url } });
    expect(alone).toMatchObject({ status: 3, stdout: '', stderr: expect.stringContaining('ollama pull llama3.2') });
    expect(ollama.asked).toEqual([]);
  });
});
