import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { USUAL_PORTS } from '../../lib/cli/init/found-servers.js';
import { manyServers } from '../support/many-servers.js';
import { type Home, makeHome, PROGRAM, RUNTIME } from '../support/program.js';
import { control, KEY, openTerminal, type Terminal } from '../support/terminal.js';
import { type HouseOptions, openVendorHouse, type VendorHouse, type VendorName } from '../support/vendor-house.js';
import { refusal, vendorServer } from '../support/vendor-server.js';
import { dialects } from '../support/vendors.js';

const PROVIDER = 'Which provider do you want to use?';
const PROMPT = /^hi> *$/m;
const [CHAT] = dialects.filter(({ title }) => title === 'OpenAI Chat Completions');

let home: Home;
let terminal: Terminal;
const houses: VendorHouse[] = [];

async function house(vendor: VendorName, options?: HouseOptions): Promise<VendorHouse> {
  const opened = await openVendorHouse(vendor, options);
  houses.push(opened);
  return opened;
}

/** Starts the program in a terminal that belongs to a shell, which tells afterwards how the terminal was left. */
async function start(args: readonly string[], env: Readonly<Record<string, string>> = {}, size = {}): Promise<void> {
  const script =
    'trap : INT; "$@"; status=$?; stty -a | grep -o " -\\?\\(icanon\\|echo\\) \\|^\\(icanon\\|-icanon\\)" | xargs echo left $status';
  terminal = openTerminal('/bin/sh', ['-c', script, 'sh', RUNTIME, PROGRAM, ...args], {
    env: { ...home.env, ...env },
    cwd: home.work,
    columns: 120,
    rows: 40,
    ...size,
  });
}

/** A machine on which no Ollama listens at the usual port, whatever this one has, but that server. */
const withoutOllama = ({ url }: VendorHouse) => ({
  OLLAMA_HOST: '',
  HTTP_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: new URL(url).host,
});

/** Waits for a question, types, sends. */
async function answer(question: string | RegExp, typed: string): Promise<void> {
  await terminal.until(question, 20_000);
  terminal.type(`${typed}${KEY.enter}`);
}

/** The first of these ports that is free. */
async function freePort([port, ...others]: readonly number[]): Promise<number> {
  if (port === undefined) throw new Error('Every usual port is taken.');
  const probe = createServer();
  const isFree = await new Promise<boolean>((done) => {
    probe.once('error', () => done(false)).listen(port, '127.0.0.1', () => probe.close(() => done(true)));
  });
  return isFree ? port : await freePort(others);
}

const down = (times: number): string => KEY.down.repeat(times);
const config = () => JSON.parse(readFileSync(home.configFile, 'utf8'));

/** The program has left with that status, and the terminal is as it was: whole lines, with echo. */
async function expectLeft(status: number): Promise<void> {
  await terminal.exit();
  expect(terminal.screen()).toMatch(new RegExp(`^left ${status} icanon echo$`, 'm'));
}

afterEach(async () => {
  await terminal?.close();
  await Promise.all(houses.splice(0).map((one) => one.close()));
  home?.remove();
});

describe('the first run on a terminal without a configuration', () => {
  it('asks for provider, key and model, makes a test call, writes config.json for its user alone, and continues with the chat', async () => {
    const openai = await house('openai', { key: 'sk-the-right-key', models: ['big', 'small'] });
    home = makeHome(null);
    await start([], { OPENAI_BASE_URL: openai.base });
    await answer(PROVIDER, '');
    await answer('API key for OpenAI (from https://platform.openai.com/api-keys)', 'sk-the-right-key');
    await terminal.until('Which model?', 20_000);
    terminal.type('sma');
    await answer('❯ small', '');
    await terminal.until('It answered: Hello from the house.', 20_000);
    await terminal.until(PROMPT, 20_000);
    expect(terminal.screen()).toContain('openai/small · a new conversation');
    expect(terminal.written()).not.toContain('sk-the-right-key');
    expect(config()).toEqual({
      $schema: './config.schema.json',
      provider: 'openai',
      model: 'small',
      api_key: 'sk-the-right-key',
    });
    expect(statSync(home.configFile).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(join(home.config, 'config.schema.json'), 'utf8'))).toHaveProperty(
      'properties.model',
    );
    terminal.type(`and you?${KEY.enter}`);
    await terminal.until(/and you\?\n+Hello from the house\.\n+hi> *$/);
    terminal.type(control('d'));
    await expectLeft(0);
  });

  it('asks for another key if the vendor refuses the first', async () => {
    const anthropic = await house('anthropic', { key: 'sk-ant-right' });
    home = makeHome(null);
    await start(['config', 'init'], { ANTHROPIC_BASE_URL: anthropic.base });
    await answer(PROVIDER, down(1));
    await answer('API key for Anthropic', 'sk-ant-wrong');
    await terminal.until(/refused the API key/);
    expect(existsSync(home.configFile)).toBe(false);
    await answer('What now?', '');
    await answer(/try again\n[\s\S]*API key for Anthropic/, 'sk-ant-right');
    await answer('Which model?', '');
    await expectLeft(0);
    expect(config()).toMatchObject({ provider: 'anthropic', model: 'first-model', api_key: 'sk-ant-right' });
  });

  it('reports a missing network, and continues with another provider', async () => {
    const gemini = await house('gemini');
    home = makeHome(null);
    await start([], { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', GOOGLE_GEMINI_BASE_URL: gemini.base });
    await answer(PROVIDER, '');
    await answer('API key for OpenAI', 'sk-any');
    await terminal.until(/127\.0\.0\.1:9/, 20_000);
    await answer('What now?', down(1));
    await answer(/choose another provider\n[\s\S]*Which provider/, down(2));
    await answer('API key for Gemini', 'any');
    await answer('Which model?', '');
    await terminal.until(PROMPT, 20_000);
    expect(config()).toMatchObject({ provider: 'gemini', model: 'first-model' });
  });

  it('can save settings that could not be tested', async () => {
    home = makeHome(null);
    await start(['config', 'init'], { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' });
    await answer(PROVIDER, '');
    await answer('API key for OpenAI', 'sk-any');
    await answer('What now?', down(2));
    await expectLeft(0);
    expect(config()).toMatchObject({ provider: 'openai', api_key: 'sk-any', model: expect.stringMatching(/./) });
  });

  it("asks for Ollama's address if it does not answer on this machine", async () => {
    const ollama = await house('ollama', { models: ['llama:8b'] });
    home = makeHome(null);
    await start(['config', 'init'], withoutOllama(ollama));
    await terminal.until(PROVIDER);
    expect(terminal.screen()).not.toContain('Ollama (running');
    await answer(PROVIDER, down(3));
    await terminal.until('Ollama does not answer on this machine.');
    await answer('Address of the server', 'ftp://nowhere');
    await terminal.until("'ftp://nowhere' is not an address.");
    terminal.type(`${control('u')}${ollama.url.replace('http://', '')}${KEY.enter}`);
    await answer('Which model?', '');
    await expectLeft(0);
    expect(config()).toEqual({
      $schema: './config.schema.json',
      provider: 'ollama',
      model: 'llama:8b',
      api_base: ollama.url,
    });
  });

  it('says how to get a model if Ollama has none', async () => {
    const ollama = await house('ollama', { models: [] });
    home = makeHome(null);
    await start(['config', 'init'], { OLLAMA_HOST: ollama.url });
    await terminal.until('Ollama (running, but it has no model yet)');
    await answer(PROVIDER, '');
    await answer('Which one should it download?', KEY.up);
    await terminal.until(/ollama pull \S+/);
    await answer('What now?', down(1));
    await terminal.until(/choose another provider\n[\s\S]*Which provider/);
    terminal.type(control('c'));
    await expectLeft(130);
  });

  it("sets up a server that speaks OpenAI's protocol, whose address lacks its path, without a key", async () => {
    const server = await house('openai', { models: ['local'] });
    home = makeHome(null);
    await start(['config', 'init']);
    await answer(PROVIDER, KEY.up);
    await answer('Address of the server', new URL(server.base).host);
    await answer('API key of the server', '');
    await expectLeft(0);
    expect(config()).toEqual({
      $schema: './config.schema.json',
      provider: 'openai',
      model: 'local',
      api_base: server.base,
    });
  });
});

describe('the first run with an API key or a local server', () => {
  it('is the chat itself with a local server', async () => {
    const ollama = await house('ollama', { models: ['llama:8b'] });
    home = makeHome(null);
    await start([], { OLLAMA_HOST: ollama.url });
    await terminal.until(PROMPT, 20_000);
    expect(terminal.screen()).toContain('Using Ollama');
    expect(existsSync(home.configFile)).toBe(false);
  });

  it.each([
    ['nothing else', [], {}],
    ['hi chat', ['chat'], {}],
    ['a model', ['-m', 'openai/first-model'], {}],
    ["a variable of hi's own", [], { HI_PROVIDER: 'openai' }],
  ])("is the chat itself with a vendor's key in the environment and %s", async (_, args, more) => {
    const openai = await house('openai', { key: 'sk-from-the-shell' });
    home = makeHome(null);
    await start(args, { OPENAI_API_KEY: 'sk-from-the-shell', OPENAI_BASE_URL: openai.base, ...more });
    await terminal.until(PROMPT, 20_000);
    expect(existsSync(home.configFile)).toBe(false);
  });

  it('says once why hi chat talks to this vendor', async () => {
    const openai = await house('openai', { key: 'sk-from-the-shell' });
    home = makeHome(null);
    const env = { OPENAI_API_KEY: 'sk-from-the-shell', OPENAI_BASE_URL: openai.base };
    await start(['chat'], env);
    await terminal.until(PROMPT, 20_000);
    expect(terminal.screen()).toMatch(
      /Using the server at '127[^']+': OPENAI_BASE_URL names it\. [\s\S]*hi config init/,
    );
    terminal.type(control('d'));
    await expectLeft(0);
    await start(['chat'], env);
    await terminal.until(PROMPT, 20_000);
    expect(terminal.screen()).not.toContain('OPENAI_BASE_URL');
  });

  it.each([
    ['a key', async () => ({ OPENAI_API_KEY: 'sk-from-the-shell' }), /Using OpenAI: its key is in OPENAI_API_KEY\./],
    [
      'the key of a service',
      async () => ({ GROQ_API_KEY: 'gsk-from-the-shell' }),
      /Using Groq: its key is in GROQ_API_KEY\.[\s\S]*^groq\/openai\/gpt-oss-120b ·/m,
    ],
    [
      'the address of Ollama',
      async () => ({ OLLAMA_HOST: (await house('ollama')).base }),
      /Using Ollama at '127[^']+': OLLAMA_HOST names it\./,
    ],
  ])('says why for %s alone too', async (_, env, words) => {
    home = makeHome(null);
    await start(['chat'], await env());
    await terminal.until(PROMPT, 20_000);
    expect(terminal.screen()).toMatch(words);
  });

  it('finds the key in the environment, and does not copy it into the file', async () => {
    const openai = await house('openai', { key: 'sk-from-the-shell' });
    home = makeHome(null);
    await start(['config', 'init'], { OPENAI_API_KEY: 'sk-from-the-shell', OPENAI_BASE_URL: openai.base });
    await terminal.until('❯ OpenAI (key in OPENAI_API_KEY)');
    await answer(PROVIDER, '');
    await answer('Which model?', '');
    await expectLeft(0);
    expect(config()).toEqual({ $schema: './config.schema.json', provider: 'openai', model: 'first-model' });
  });

  it('asks for a key if the one in the environment is refused', async () => {
    const openai = await house('openai', { key: 'sk-right' });
    home = makeHome(null);
    await start(['config', 'init'], { OPENAI_API_KEY: 'sk-stale', OPENAI_BASE_URL: openai.base });
    await answer(PROVIDER, '');
    await answer('What now?', '');
    await answer('API key for OpenAI', 'sk-right');
    await answer('Which model?', '');
    await expectLeft(0);
    expect(config()).toMatchObject({ api_key: 'sk-right' });
  });

  it('finds Ollama and lists its models', async () => {
    const ollama = await house('ollama', { models: ['llama:8b', 'qwen:3b'] });
    home = makeHome(null);
    await start(['config', 'init'], { OLLAMA_HOST: ollama.url });
    await terminal.until('❯ Ollama (running, 2 models)');
    await answer(PROVIDER, '');
    await terminal.until(/Which model\?[\s\S]*llama:8b[\s\S]*qwen:3b/);
    await answer('Which model?', down(1));
    await expectLeft(0);
    expect(config()).toMatchObject({ provider: 'ollama', model: 'qwen:3b' });
  });
});

describe('the set-up finds', () => {
  it.each([
    [
      'a server that a variable names',
      false,
      /❯ Server at 127\.0\.0\.1:\d+ \(OPENAI_BASE_URL names it, running, model local\)/,
    ],
    ['a server on a usual port of this machine', true, /❯ Server at 127\.0\.0\.1:\d+ \(running, model local\)/],
  ])('%s, and asks nothing more', async (_, isOnUsualPort, line) => {
    const port = isOnUsualPort ? await freePort(USUAL_PORTS.map(([usual]) => usual)) : 0;
    const server = await house('openai', { models: ['local'], port });
    home = makeHome(null);
    await start(['config', 'init'], isOnUsualPort ? {} : { OPENAI_BASE_URL: server.base });
    await answer(line, '');
    await expectLeft(0);
    expect(config()).toMatchObject({ model: 'local', ...(isOnUsualPort && { api_base: server.base }) });
  });
});

describe('the set-up of several', () => {
  it('offers the services of the environment, and keeps the running servers that are not chosen by name', async () => {
    const ollama = await house('ollama', { models: ['llama:8b', 'qwen:3b'] });
    const port = await freePort(USUAL_PORTS.map(([usual]) => usual));
    const local = await house('openai', { models: ['local'], port });
    await using internet = await manyServers(({ host, method }) => {
      if (host !== 'api.groq.com') return null;
      return method === 'GET'
        ? { chunks: ['{"data":[{"id":"a"},{"id":"openai/gpt-oss-120b"}]}'] }
        : (CHAT?.text('Hello.') ?? null);
    });
    home = makeHome(null);
    await start(['config', 'init'], { ...internet.env, GROQ_API_KEY: 'gsk-of-the-shell', OLLAMA_HOST: ollama.url });
    await terminal.until(
      /❯ Ollama \(running, 2 models\)[\s\S]*Groq \(key in GROQ_API_KEY\)[\s\S]*OpenRouter, Mistral …/,
    );
    await answer(PROVIDER, down(2));
    await terminal.until('Using the key in GROQ_API_KEY.');
    await answer(/Which model\?[\s\S]*❯ openai\/gpt-oss-120b/, '');
    await expectLeft(0);
    const name = Object.keys(config().servers).find((one) => one !== 'groq' && one !== 'ollama') ?? '';
    expect(terminal.screen()).toContain(`Also found, and kept for -m: ollama (llama:8b), ${name} (local).`);
    expect(config()).toEqual({
      $schema: './config.schema.json',
      model: 'groq',
      servers: {
        groq: { model: 'openai/gpt-oss-120b' },
        ollama: { provider: 'ollama', model: 'llama:8b' },
        [name]: { api_base: local.base, model: 'local' },
      },
    });
    expect(name).toMatch(/^[a-z0-9.-]+$/);
    await start(['ask', '-m', name, 'hello'], internet.env);
    await expectLeft(0);
    expect(local.asked.at(-1)).toBe('POST /v1/chat/completions');
    await start(['chat'], { ...internet.env, GROQ_API_KEY: 'gsk-of-the-shell' });
    await terminal.until(PROMPT, 20_000);
    expect(terminal.screen()).toContain('groq/openai/gpt-oss-120b ·');
    expect(terminal.screen()).not.toContain('hi config init');
  });

  it('asks for the key of a service that is not in the environment', async () => {
    await using internet = await manyServers(({ method, headers }) => {
      if (headers.authorization !== 'Bearer gsk-right') return refusal(401, { error: { message: 'Invalid API Key' } });
      return method === 'GET' ? { chunks: ['{"data":[{"id":"a"},{"id":"b"}]}'] } : (CHAT?.text('Hello.') ?? null);
    });
    home = makeHome(null);
    await start(['config', 'init'], internet.env);
    await answer(PROVIDER, KEY.up.repeat(2));
    await answer('Which service?', down(1));
    await answer('API key for Groq:', 'gsk-wrong');
    await answer(/refused the API key[\s\S]*What now\?/, '');
    await answer(/try again\n[\s\S]*API key for Groq:/, 'gsk-right');
    await answer('Which model?', down(1));
    await expectLeft(0);
    expect(config()).toMatchObject({ model: 'groq', servers: { groq: { api_key: 'gsk-right', model: 'b' } } });
  });
});

describe('hi config init again', () => {
  it('offers the existing settings, and keeps the key and everything else', async () => {
    const anthropic = await house('anthropic', { key: 'sk-ant-kept-1234' });
    home = makeHome({
      provider: 'anthropic',
      model: 'second-model',
      api_key: 'sk-ant-kept-1234',
      context_window: 50_000,
      preamble: 'Be brief.',
      tools: { permissions: { allow: ['bash(git status:*)'] } },
    });
    await start(['config', 'init'], { ANTHROPIC_BASE_URL: anthropic.base });
    await terminal.until('❯ Anthropic');
    await answer(PROVIDER, '');
    await answer(/API key for Anthropic [\s\S]*keep\s+\S*…1234/, '');
    await terminal.until('❯ second-model');
    await answer('Which model?', '');
    await expectLeft(0);
    expect(config()).toEqual({
      $schema: './config.schema.json',
      provider: 'anthropic',
      model: 'second-model',
      api_key: 'sk-ant-kept-1234',
      context_window: 50_000,
      preamble: 'Be brief.',
      tools: { permissions: { allow: ['bash(git status:*)'] } },
    });
  });

  it('drops the settings of another model', async () => {
    const openai = await house('openai');
    home = makeHome({
      provider: 'anthropic',
      model: 'm',
      api_key: 'k',
      context_window: 50_000,
      small_model: { model: 'claude-small' },
      thinking: 'low',
    });
    await start(['config', 'init'], { OPENAI_BASE_URL: openai.base, OPENAI_API_KEY: 'k' });
    await answer(PROVIDER, down(1));
    await answer('Which model?', '');
    await expectLeft(0);
    expect(config()).toEqual({
      $schema: './config.schema.json',
      provider: 'openai',
      model: 'first-model',
      thinking: 'low',
    });
  });

  it('moves an unusable file aside, but not before the new one is written', async () => {
    const openai = await house('openai');
    home = makeHome(null);
    home.writeConfig('{ "provider": ');
    const env = { OPENAI_BASE_URL: openai.base, OPENAI_API_KEY: 'k' };
    await start(['config', 'init'], env);
    await answer('This file cannot be used.', '');
    await terminal.until(PROVIDER);
    terminal.type(control('c'));
    await expectLeft(130);
    expect(readFileSync(home.configFile, 'utf8')).toBe('{ "provider": ');
    await start(['config', 'init'], env);
    await answer('This file cannot be used.', '');
    await answer(PROVIDER, '');
    await answer('Which model?', '');
    await expectLeft(0);
    expect(readFileSync(`${home.configFile}.old`, 'utf8')).toBe('{ "provider": ');
    expect(config()).toMatchObject({ provider: 'openai' });
  });

  it('is refused without a terminal: 2, with another way', async () => {
    home = makeHome(null);
    terminal = openTerminal(
      '/bin/sh',
      ['-c', '"$@" </dev/null; echo left $?', 'sh', RUNTIME, PROGRAM, 'config', 'init'],
      {
        env: home.env,
      },
    );
    await terminal.exit();
    expect(terminal.screen()).toMatch(/needs a terminal[\s\S]*hi config path[\s\S]*left 2/);
  });
});

describe('leaving the set-up', () => {
  /** Every question there is, each with the answers that lead to it. */
  const QUESTIONS: readonly (readonly [string, readonly (readonly [string | RegExp, string])[]])[] = [
    [PROVIDER, []],
    ['API key for OpenAI', [[PROVIDER, '']]],
    [
      'What now?',
      [
        [PROVIDER, ''],
        ['API key for OpenAI', 'wrong'],
      ],
    ],
    [
      'Which model?',
      [
        [PROVIDER, ''],
        ['API key for OpenAI', 'right'],
      ],
    ],
    ['Address of the server', [[PROVIDER, down(3)]]],
    ['Address of the server, such as', [[PROVIDER, KEY.up]]],
    [
      'API key of the server',
      [
        [PROVIDER, KEY.up],
        ['Address of the server', 'http://127.0.0.1:9/v1'],
      ],
    ],
  ];

  it.each(QUESTIONS)(
    'with Ctrl-C at "%s" writes nothing and leaves the terminal as it was',
    async (question, before) => {
      const openai = await house('openai', { key: 'right' });
      home = makeHome(null);
      await start([], { OPENAI_BASE_URL: openai.base, ...withoutOllama(openai) });
      for (const [asked, typed] of before) await answer(asked, typed);
      await terminal.until(question, 20_000);
      terminal.type(control('c'));
      await expectLeft(130);
      expect(terminal.screen()).toContain('Nothing was written.');
      expect(readdirSync(home.config)).toEqual([]);
      expect(existsSync(home.data)).toBe(false);
    },
  );

  it('with Ctrl-C while it waits for the vendor has the same effect', async () => {
    home = makeHome(null);
    await using silent = await vendorServer({ silent: true });
    await start([], { OPENAI_BASE_URL: silent.url });
    await answer(PROVIDER, '');
    await answer('API key for OpenAI', 'any');
    await terminal.until('Fetching the list of models');
    terminal.type(control('c'));
    await expectLeft(130);
    expect(terminal.screen()).toContain('Nothing was written.');
    expect(readdirSync(home.config)).toEqual([]);
  });

  it('with Ctrl-D writes nothing', async () => {
    home = makeHome(null);
    await start([]);
    await answer(PROVIDER, '');
    await terminal.until('API key for OpenAI');
    terminal.type(control('d'));
    await expectLeft(130);
    expect(readdirSync(home.config)).toEqual([]);
  });
});

describe('an unwritable configuration folder', () => {
  it('is reported with its path and what to do before anything is asked: 3', async () => {
    const openai = await house('openai');
    home = makeHome(null);
    home.write('file', '');
    const folder = join(home.work, 'file', 'hi');
    await start(['config', 'init'], { OPENAI_BASE_URL: openai.base, OPENAI_API_KEY: 'k', HI_CONFIG_DIR: folder });
    await expectLeft(3);
    expect(terminal.screen()).toMatch(/'.*file\S*' is not a folder[\s\S]*HI_CONFIG_DIR/);
    expect(terminal.screen()).not.toContain(PROVIDER);
  });
});

describe('a terminal of 20 columns and 6 rows', () => {
  it('is large enough for the set-up', async () => {
    const openai = await house('openai', { key: 'any' });
    home = makeHome(null);
    await start(['config', 'init'], { OPENAI_BASE_URL: openai.base }, { columns: 20, rows: 6 });
    await terminal.until('OpenAI');
    terminal.type(KEY.enter);
    await terminal.until('api-keys):', 20_000);
    terminal.type(`any${KEY.enter}`);
    await terminal.until('first-model', 20_000);
    terminal.type(KEY.enter);
    await expectLeft(0);
    expect(config()).toMatchObject({ provider: 'openai', model: 'first-model' });
  });
});
