import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM, RUNTIME, type RunOptions, runProgram } from '../support/program.js';
import { openTerminal } from '../support/terminal.js';
import { type HouseOptions, openVendorHouse, type VendorHouse, type VendorName } from '../support/vendor-house.js';

let home: Home;
let house: VendorHouse | undefined;

/** A home whose configuration points at a house of that vendor. */
async function setUp(provider: VendorName, options: HouseOptions, more: object = {}): Promise<void> {
  house = await openVendorHouse(provider, options);
  home = makeHome({ provider, model: 'first-model', api_base: house.base, ...more });
}

const check = (args: readonly string[] = [], options?: RunOptions) =>
  runProgram(home, ['config', 'check', ...args], options);

afterEach(async () => {
  await house?.close();
  house = undefined;
  home.remove();
});

describe('hi config check', () => {
  it('says for each part that it works, and contacts no server', async () => {
    await setUp('openai', {}, { api_key: 'sk-secret-1234567', context_window: 9000 });
    const { status, stdout } = await check();
    expect(status).toBe(0);
    for (const part of [
      'zstd',
      'file',
      'settings folder',
      'data folder',
      'cache folder',
      'skills',
      'clipboard',
      'history',
      'key',
      'model: openai/first-model',
      'context window: 9000 tokens, from the file',
    ])
      expect(stdout).toMatch(new RegExp(`^ok     ${part}`, 'm'));
    expect(stdout).toMatch(/^(ok +sandbox: bubblewrap|- +sandbox: none)/m);
    expect(stdout).toMatch(/^- +reachability: not checked; 'hi config check --live' makes/m);
    expect(stdout).not.toContain('sk-secret');
    expect(house?.asked).toEqual([]);
  });

  it('colours its results if colour is wanted, and only then', async () => {
    await setUp('openai', {});
    expect((await check()).stdout).not.toContain('\x1b');
    const coloured = await check([], { env: { FORCE_COLOR: '1' } });
    expect(coloured.stdout).toContain('\x1b[32mok\x1b[39m     zstd');
  });

  it('wraps its lines at words on a terminal', async () => {
    await setUp('openai', {});
    const terminal = openTerminal(RUNTIME, [PROGRAM, 'config', 'check'], {
      env: home.env,
      cwd: home.work,
      columns: 60,
    });
    await terminal.exit();
    expect(terminal.screen()).toMatch(
      /^- {6}context window: 128000 tokens assumed: no published\n {7}value for [^\n]*\n {7}.*config\.json/m,
    );
    await terminal.close();
  });

  it('says when max_input_tokens exceeds the window', async () => {
    await setUp('openai', {}, { api_key: 'sk-secret-1234567', context_window: 9000, max_input_tokens: 9001 });
    const { status, stdout } = await check();
    expect(status).toBe(3);
    expect(stdout).toMatch(/^fail {3}max_input_tokens: max_input_tokens is 9001, above the context window of 9000/m);
    expect(stdout).toContain('Set max_input_tokens to 7200 or less');
    home.writeConfig(JSON.stringify({ ...JSON.parse(readFileSync(home.configFile, 'utf8')), max_input_tokens: 9000 }));
    expect(await check()).toMatchObject({ status: 0, stdout: expect.not.stringContaining('max_input_tokens') });
  });

  it('says that the window of an unknown model is a guess', async () => {
    await setUp('openai', {});
    expect((await check()).stdout).toMatch(/^- +context window: 128000 tokens assumed: .*Set context_window/m);
  });

  it('says that the main model writes the summaries if it is unknown whether the fast one exists', async () => {
    await setUp('openai', {});
    expect((await check()).stdout).toMatch(
      /^- +summaries: the main model, first-model, writes them: '127\.0\.0\.1:\d+' may not have '\S+'\. Set small_model/m,
    );
  });

  it.each([
    ['openai', 'OPENAI', 'https://api.openai.com/v1/', 'gpt-6-luna'],
    ['anthropic', 'ANTHROPIC', 'https://api.anthropic.com', 'claude-haiku-5-5'],
    ['gemini', 'GOOGLE_GEMINI', 'https://generativelanguage.googleapis.com/', 'gemini-flash-lite-latest'],
  ])(
    "says that the fast model of %s writes them at the vendor's own address",
    async (provider, name, address, small) => {
      home = makeHome({ provider, api_key: 'a-key-0123456789' });
      const inVariable = await check([], { env: { [`${name}_BASE_URL`]: address } });
      expect(inVariable.stdout).toContain(`summaries: ${provider}/${small} writes them`);
      home.writeConfig(JSON.stringify({ provider, api_key: 'a-key-0123456789', api_base: address }));
      expect((await check()).stdout).toContain(`summaries: ${provider}/${small} writes them`);
    },
  );

  it('says what is wrong with the file, and how to fix it', async () => {
    home = makeHome({ provider: 'openai', modle: 'm' });
    const wrongKey = await check();
    expect(wrongKey.status).toBe(3);
    expect(wrongKey.stdout).toMatch(/^fail {3}file: [\s\S]*modle[\s\S]*did you mean 'model'/m);
    home.writeConfig('{ "provider": "openai", "api_key": "k" }');
    chmodSync(home.configFile, 0o644);
    const loose = await check();
    expect(loose.status).toBe(3);
    expect(loose.stdout).toContain(`chmod 600 '${home.configFile}'`);
  });

  it('says that nothing is set up, or that a key is missing, and how to get one', async () => {
    home = makeHome(null);
    const none = await check();
    expect([none.status, none.stdout]).toEqual([
      3,
      expect.stringMatching(/^fail {3}provider: .*\n +.*hi config init/m),
    ]);
    home.writeConfig('{ "provider": "gemini" }');
    const keyless = await check();
    expect([keyless.status, keyless.stdout]).toEqual([
      3,
      expect.stringMatching(/^fail {3}key: .*\n +.*GEMINI_API_KEY/m),
    ]);
  });

  it('names the folder that cannot be used', async () => {
    await setUp('openai', {});
    home.write('file', '');
    const { status, stdout } = await check([], { env: { HI_CACHE_DIR: join(home.work, 'file', 'cache') } });
    expect(status).toBe(3);
    expect(stdout).toMatch(/^fail {3}cache folder: '.*file.*' is not a folder\.\n +.*HI_CACHE_DIR/m);
  });

  it('says when the history cannot be read: 7', async () => {
    await setUp('openai', {});
    mkdirSync(home.historyFile, { recursive: true });
    const { status, stdout } = await check();
    expect(status).toBe(7);
    expect(stdout).toMatch(/^fail {3}history: .*history\.json\.zst/m);
  });

  it('reports faults of skills', async () => {
    await setUp('openai', {});
    mkdirSync(join(home.config, 'skills', 'broken'), { recursive: true });
    writeFileSync(join(home.config, 'skills', 'broken', 'SKILL.md'), '---\nname: [\n---\n');
    expect((await check()).stdout).toMatch(/^- +skills: '.*broken.*' \S/m);
  });

  it('says if the sandbox is on but does not work', async () => {
    await setUp('openai', {}, { tools: { sandbox: true } });
    // Without any program to be found there is no bubblewrap.
    const { status, stdout } = await check([], { env: { PATH: home.work } });
    expect(status).toBe(3);
    expect(stdout).toMatch(/^fail {3}sandbox: .*\n +.*apt install bubblewrap/m);
  });

  it('names the clipboard program if there is one', async () => {
    await setUp('openai', {});
    home.write('xclip', '#!/bin/sh\n');
    chmodSync(join(home.work, 'xclip'), 0o755);
    const env = { PATH: `${home.work}:${home.env.PATH}` };
    expect((await check([], { env: { ...env, DISPLAY: ':0' } })).stdout).toMatch(/^ok +clipboard: xclip$/m);
    expect((await check([], { env })).stdout).toMatch(/^ok +clipboard: .*OSC 52$/m);
  });
});

describe('hi config check --live', () => {
  it.each(['openai', 'anthropic', 'gemini', 'ollama'] as const)(
    'asks %s for its models and for one word',
    async (name) => {
      await setUp(name, { text: 'ready', loaded: 200_000 }, { api_key: 'k' });
      const { status, stdout } = await check(['--live']);
      expect(stdout).toMatch(/^ok +reachability: the server lists 2 models$/m);
      expect(stdout).toMatch(/^ok +answer: "ready"$/m);
      expect(status).toBe(0);
    },
  );

  it('reports the window and the input that the model accepts, as its server states them', async () => {
    const told = { max_model_len: 9000, supports_tools: false, capabilities: { vision: true } };
    await setUp('openai', { models: ['first-model'], told });
    const { stdout } = await check(['--live']);
    expect(stdout).toMatch(/^ok +reachability: the server lists 1 model$/m);
    expect(stdout).toMatch(/^ok +context window: 9000 tokens, as reported by the server$/m);
    expect(stdout).not.toContain('128000');
    expect(stdout).toMatch(/^ok +real window: 9000 tokens at '127\.0\.0\.1:\d+'$/m);
    expect(stdout).toMatch(/^ok +capabilities: no tools, images$/m);
  });

  it('reports a server that does not answer, with its address: 5', async () => {
    home = makeHome({ provider: 'openai', model: 'm', api_base: 'http://127.0.0.1:9/v1' });
    const { status, stdout } = await check(['--live']);
    expect(status).toBe(5);
    expect(stdout).toMatch(/^fail {3}reachability: .*127\.0\.0\.1:9.*\n +\S/m);
  });

  it('reports a refused key: 4', async () => {
    await setUp('anthropic', { key: 'right' }, { api_key: 'wrong' });
    const { status, stdout } = await check(['--live']);
    expect(status).toBe(4);
    expect(stdout).toMatch(/^fail {3}reachability: .*refused the API key.*\n +\S/m);
  });

  it('reports a model that is not in the list of the server', async () => {
    await setUp('openai', {}, { model: 'third-model' });
    expect((await check(['--live'])).stdout).toMatch(/^- +model: 'third-model' is not on that list$/m);
  });

  it.each([
    [
      'less than it is sent',
      4096,
      3,
      /^fail {3}real window: Ollama gives this model 4096 tokens, not 32000\.\n +Set context_window to 4096/m,
    ],
    ['enough', 32_000, 0, /^ok +real window: 32000 tokens at Ollama$/m],
    ['what it was asked for, while it does not tell', undefined, 0, /^ok +real window: 32000 tokens at Ollama$/m],
  ])('reports that Ollama gives the model %s', async (_what, loaded, status, line) => {
    await setUp('ollama', loaded === undefined ? {} : { loaded }, { context_window: 32_000 });
    const run = await check(['--live']);
    expect(run.stdout).toMatch(line);
    expect(run.status).toBe(status);
  });
});

describe('hi config show, path and schema', () => {
  it('print settings with masked keys, the paths, and the schema that the file refers to', async () => {
    home = makeHome({ $schema: './config.schema.json', provider: 'openai', api_key: 'sk-a-long-secret-key' });
    const shown = await runProgram(home, ['config', 'show']);
    expect(JSON.parse(shown.stdout)).toMatchObject({ provider: 'openai', api_key: '…-key' });
    const paths = JSON.parse((await runProgram(home, ['config', 'path', '--json'])).stdout);
    expect(paths).toMatchObject({ config_file: home.configFile, history: home.historyFile });
    const schema = JSON.parse((await runProgram(home, ['config', 'schema'])).stdout);
    expect(schema).toMatchObject({ properties: { $schema: {}, provider: {}, compaction: {} } });
    const settings = Object.keys(JSON.parse(shown.stdout));
    expect(settings.filter((name) => !Object.hasOwn(schema.properties, name))).toEqual([]);
  });
});

describe('hi config set and edit', () => {
  const stored = () => JSON.parse(readFileSync(home.configFile, 'utf8'));

  it('set one setting by its path: JSON if the schema takes it, else text; the rest and what is beside it stay', async () => {
    home = makeHome({ $schema: './config.schema.json', provider: 'openai', compaction: { keep_recent: 8 } });
    for (const [key, value] of [
      ['model', '5'],
      ['compaction.trigger_ratio', '0.7'],
      ['tools.permissions.allow', '["bash(git status:*)"]'],
      ['preamble', 'Answer, briefly.'],
      ['api_key', 'null'],
    ] as const) {
      const run = await runProgram(home, ['config', 'set', key, value]);
      expect(run).toMatchObject({ status: 0, stderr: `Set '${key}' in '${home.configFile}'.\n` });
    }
    expect(stored()).toEqual({
      $schema: './config.schema.json',
      provider: 'openai',
      compaction: { keep_recent: 8, trigger_ratio: 0.7 },
      model: '5',
      tools: { permissions: { allow: ['bash(git status:*)'] } },
      preamble: 'Answer, briefly.',
      api_key: null,
    });
  });

  it('refuse what the schema does not take, and write nothing', async () => {
    home = makeHome({ provider: 'openai' });
    const wrong = await runProgram(home, ['config', 'set', 'modle', 'gpt-5']);
    expect(wrong).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("$.modle: unknown key 'modle'; did you mean 'model'?"),
    });
    const high = await runProgram(home, ['config', 'set', 'compaction.trigger_ratio', '7']);
    expect(high).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('$.compaction.trigger_ratio: 7 must be <= 1'),
    });
    expect(stored()).toEqual({ provider: 'openai' });
    home.writeConfig('{ "provider":');
    expect(await runProgram(home, ['config', 'set', 'model', 'gpt-5'])).toMatchObject({ status: 3 });
    expect(readFileSync(home.configFile, 'utf8')).toBe('{ "provider":');
    chmodSync(home.configFile, 0o600);
    const piped = await runProgram(home, ['config', 'edit']);
    expect(piped).toMatchObject({ status: 2, stderr: expect.stringContaining(`Edit '${home.configFile}'`) });
  });

  it('open the file in the editor, and say what is wrong with what was saved', async () => {
    home = makeHome(null);
    const edit = async (text: string) => {
      const env = { ...home.env, VISUAL: `sh -c 'echo "$0" > "$1"' '${text}'` };
      const terminal = openTerminal(RUNTIME, [PROGRAM, 'config', 'edit'], { env, cwd: home.work });
      try {
        return { ...(await terminal.exit()), screen: terminal.screen() };
      } finally {
        await terminal.close();
      }
    };
    expect(await edit('{"model":"gpt-5"}')).toMatchObject({ status: 0 });
    expect(stored()).toEqual({ model: 'gpt-5' });
    const wrong = await edit('{"model":5}');
    expect(wrong).toMatchObject({ status: 3, screen: expect.stringContaining('$.model: 5 is not a string') });
  });
});
