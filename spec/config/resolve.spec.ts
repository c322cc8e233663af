import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { Vendor } from '../../lib/chat/model.js';
import type { Config, ConfigFile } from '../../lib/config/config.js';
import {
  baseWindow,
  type Flags,
  notConfigured,
  publishedWindow,
  resolveConfig,
  restAfter,
} from '../../lib/config/resolve.js';
import { HiError } from '../../lib/errors.js';
import { providers } from '../../lib/providers/index.js';

function vendor(name: string, keyVariables: readonly string[], more: Partial<Vendor> = {}): Vendor {
  const base = { name, title: `The ${name}`, keyPage: null, defaultModel: `${name}-1`, fastModel: `${name}-fast` };
  return { ...base, keyVariables, baseVariable: `${name.toUpperCase()}_BASE`, ownHosts: [], ...more };
}

const VENDORS = [
  vendor('one', ['ONE_KEY', 'ONE_OTHER']),
  vendor('two', ['TWO_KEY']),
  vendor('three', ['THREE_KEY'], { elsewhere: 'Any server' }),
  vendor('local', [], { port: 1234, fastModel: null }),
];

const NAME_ONE = 'Choose one with -m NAME, HI_MODEL, or `model` in config.json.';

interface Asked {
  readonly name: string;
  readonly apiBase: string | null;
}

async function resolve(
  file: ConfigFile | null,
  {
    flags = {},
    env = {},
    models = null,
  }: { flags?: Flags; env?: object; models?: readonly string[] | HiError | null } = {},
): Promise<{ readonly config: Config | null; readonly asked: readonly Asked[] }> {
  const asked: Asked[] = [];
  const { config } = await resolveConfig({
    file,
    flags,
    env: { ...env },
    vendors: VENDORS,
    models: async ({ name }, apiBase) => {
      asked.push({ name, apiBase });
      if (models === null || models instanceof HiError) throw models ?? new HiError('network', 'Nothing answers.');
      return models.map((model) => ({ name: model, chats: !model.startsWith('embed') }));
    },
  });
  return { config, asked };
}

const configOf = async (...given: Parameters<typeof resolve>) => (await resolve(...given)).config;

describe('the model', () => {
  it.each([
    { flags: { model: 'one/m' } },
    { env: { HI_MODEL: 'one/m' } },
    { flags: { provider: 'two', model: 'one/m' } },
  ])('is the one that a gateway lists by such a name: %j', async (sources) => {
    const file = { provider: 'two', api_base: 'http://gateway', api_key: 'k' };
    const found = await configOf(file, { ...sources, models: ['two/m', 'one/m'] });
    expect([found?.provider, found?.model, found?.api_base]).toEqual(['two', 'one/m', 'http://gateway']);
  });

  it("is of the prefix's provider where the gateway does not list it, or there is none", async () => {
    const file = { provider: 'two', api_base: 'http://gateway', api_key: 'k' };
    const flags = { model: 'one/m' };
    for (const models of [['two/m'], new HiError('network', 'Nothing answers.')]) {
      const found = await configOf(file, { flags, models });
      expect([found?.provider, found?.model, found?.api_base]).toEqual(['one', 'm', null]);
    }
    expect((await resolve({ provider: 'two' }, { flags, models: ['one/m'] })).asked).toEqual([]);
  });

  it("is its maker's where it has a name that only the maker's models have, unless a provider or a server is named", async () => {
    const asked = async (provider: string, model: string, api_base?: string) => {
      const file = { provider, ...(api_base !== undefined && { api_base }), api_key: 'k' };
      const sources = {
        file,
        flags: { model },
        env: { ANTHROPIC_API_KEY: 'a' },
        vendors: providers,
        models: async () => [],
      };
      return (await resolveConfig(sources)).config?.provider;
    };
    expect(await asked('openai', 'claude-sonnet-4-5')).toBe('anthropic');
    expect(await asked('openai', 'gpt-oss-20b')).toBe('openai');
    expect(await asked('anthropic', 'gpt-6-luna')).toBe('openai');
    expect(await asked('openai', 'claude-sonnet-4-5', 'http://127.0.0.1:1/v1')).toBe('openai');
    expect(await asked('ollama', 'gpt-6-luna')).toBe('ollama');
  });

  it('may not be empty', async () => {
    await expect(resolve({ provider: 'one' }, { flags: { model: ' ' } })).rejects.toMatchObject({
      code: 'usage',
      message: 'The model name is empty.',
      hint: 'Give a name: -m NAME',
    });
  });

  it('may begin with the configured provider', async () => {
    const model = async (name: string) => (await configOf(null, { flags: { provider: 'one', model: name } }))?.model;
    expect(await model('one/m')).toBe('m');
    expect(await model('two/m')).toBe('two/m');
    expect(await model('m/one/')).toBe('m/one/');
  });

  it.each([
    ['is the same as in the file', { model: 'm' }, 5000],
    ['is not chosen elsewhere', {}, 5000],
    ['is another one', { model: 'n' }, 128_000],
  ])('has the window of the file if it %s', async (_when, flags, window) => {
    const file = { provider: 'one', model: 'm', context_window: 5000 };
    expect((await configOf(file, { flags }))?.context_window).toBe(window);
  });

  it.each([
    ['openai/resources/shared.d.ts', 'ChatModel'],
    ['openai/resources/shared.d.ts', 'ResponsesModel'],
    ['@anthropic-ai/sdk/resources/messages/messages.d.ts', 'Model'],
  ])('has a window if it is in the types of its SDK: %s, %s', (file, type) => {
    const [, names = ''] =
      new RegExp(`type ${type} =([^;]+);`).exec(readFileSync(`node_modules/${file}`, 'utf8')) ?? [];
    const models = [...names.matchAll(/'([^']+)'/g)].map(([, name = '']) => name);
    expect(models.length).toBeGreaterThan(10);
    expect(models.filter((name) => publishedWindow(name) === null)).toEqual([]);
  });

  it('has a window under every form of its name in the table of models', () => {
    expect(publishedWindow('claude-3-haiku-20240307')).toBe(200_000);
    expect(publishedWindow('bedrock.claude-3-5-haiku-v1')).toBe(200_000);
    expect(publishedWindow('x-claude-2')).toBeNull();
    expect(publishedWindow('Gemini-Flash-1.5-8B')).toBe(1_000_000);
    expect(publishedWindow('gemini-flash-1.5-8b-x')).toBeNull();
  });
});

describe('the provider', () => {
  it("is that of HI_PROVIDER, unless the command line names another provider's model", async () => {
    const env = { HI_PROVIDER: 'two' };
    expect(await configOf({ provider: 'one' }, { env })).toMatchObject({ provider: 'two' });
    expect(await configOf(null, { env, flags: { model: 'm' } })).toMatchObject({ provider: 'two', model: 'm' });
    expect(await configOf(null, { env, flags: { model: 'one/m' } })).toMatchObject({ provider: 'one', model: 'm' });
    expect(await configOf(null, { env: { ...env, HI_MODEL: 'one/m' } })).toMatchObject({
      provider: 'two',
      model: 'one/m',
    });
    expect(await configOf(null, { env, flags: { provider: 'one' } })).toMatchObject({ provider: 'one' });
  });

  it('is found by a key that is not blank', async () => {
    expect((await configOf(null, { env: { ONE_KEY: ' ', TWO_KEY: 'k' } }))?.provider).toBe('two');
    expect(await configOf(null, { env: { ONE_KEY: ' ', ONE_OTHER: ' k ' } })).toMatchObject({ api_key: 'k' });
  });

  it('is found by asking those that need no key, and no others, at the configured address', async () => {
    expect(await resolve(null)).toEqual({ config: null, asked: [{ name: 'local', apiBase: null }] });
    const env = { LOCAL_BASE: 'gpu' };
    expect((await resolve(null, { env })).asked).toEqual([{ name: 'local', apiBase: 'http://gpu:1234' }]);
    const { config, asked } = await resolve({ api_base: 'http://other:1' }, { env, models: ['m'] });
    expect(asked[0]).toEqual({ name: 'local', apiBase: 'http://other:1' });
    expect(config).toMatchObject({ provider: 'local', model: 'm', api_base: 'http://other:1' });
  });

  it('is the one whose variable names another server, unless it needs no key', async () => {
    expect((await configOf(null, { env: { TWO_BASE: 'http://gateway' }, models: ['m'] }))?.provider).toBe('two');
    expect(await configOf(null, { env: { LOCAL_BASE: 'http://gateway' } })).toBeNull();
  });

  it("uses its default model at another server if that has it, else the server's first one", async () => {
    const env = { ONE_BASE: 'http://gateway', ONE_KEY: 'k' };
    const model = async (...models: readonly string[]) => (await configOf({ provider: 'one' }, { env, models }))?.model;
    expect(await model('other', 'one-1')).toBe('one-1');
    expect(await model('other')).toBe('other');
    expect(await model('embed', 'other')).toBe('other');
    expect((await resolve({ provider: 'one' }, { env: { ONE_KEY: 'k' } })).asked).toEqual([]);
  });

  it('uses the first of its models if it needs no key, even if it has a default one', async () => {
    expect((await configOf({ provider: 'local' }, { models: ['first', 'local-1'] }))?.model).toBe('first');
  });

  it('uses its default model if it needs no key and does not answer', async () => {
    expect((await configOf({ provider: 'local' }))?.model).toBe('local-1');
  });

  it.each([
    ['has none', [], 'model', "The server at 'http://***@gateway' has no model.", 'Load one there first.'],
    [
      'has none that chats',
      ['embed-a', 'embed-b'],
      'model',
      "No model is set, and the server at 'http://***@gateway' lists no chat model: embed-a, embed-b.",
      NAME_ONE,
    ],
    [
      'has no list',
      new HiError('request', 'Not found.', { hint: 'Check api_base.' }),
      'request',
      "No model is set, and the server at 'http://***@gateway' does not list any: Not found.",
      `${NAME_ONE} Check api_base.`,
    ],
    [
      'refuses the key',
      new HiError('key', 'The key is wrong.', { hint: 'Set it.' }),
      'key',
      'The key is wrong.',
      'Set it.',
    ],
    ['does not answer', null, 'network', 'Nothing answers.', null],
  ] as const)('has no model at another server that %s', async (_what, models, code, message, hint) => {
    const env = { THREE_BASE: 'http://user:pass@gateway' };
    await expect(resolve(null, { env, models })).rejects.toMatchObject({ code, message, hint });
    await expect(resolve(null, { env: { ...env, HI_MODEL: 'm' }, models })).resolves.toMatchObject({
      config: { model: 'm' },
    });
  });

  it('uses its default model at a server of one vendor that lists none', async () => {
    const models = new HiError('request', 'Not found.');
    expect((await configOf(null, { env: { ONE_BASE: 'http://gateway' }, models }))?.model).toBe('one-1');
  });
});

describe('the address', () => {
  it.each([
    ['gpu', 'http://gpu'],
    ['gpu:8000/v1', 'http://gpu:8000/v1'],
    ['http://gpu/v1', 'http://gpu/v1'],
    ['https://gpu', 'https://gpu'],
  ])('of a vendor without a port of its own may be %s', async (given, address) => {
    expect((await configOf({ provider: 'one' }, { env: { ONE_BASE: given }, models: ['m'] }))?.api_base).toBe(address);
  });

  it.each([
    ['gpu:8000', 'http://gpu:8000'],
    ['gpu:8000/v1', 'http://gpu:8000/v1'],
    ['a-https://gpu', 'http://a-https://gpu:1234'],
  ])('of a vendor with one may be %s', async (given, address) => {
    expect((await configOf({ provider: 'local' }, { env: { LOCAL_BASE: given } }))?.api_base).toBe(address);
  });

  it('is refused when only its end looks like one of the web', async () => {
    await expect(resolve({ provider: 'one' }, { env: { HI_API_BASE: 'xhttp://host' } })).rejects.toThrow('HI_API_BASE');
  });

  it('is refused with a hint when it is not one of the web', async () => {
    await expect(resolve({ provider: 'one' }, { env: { HI_API_BASE: 'ftp://u:p@host' } })).rejects.toMatchObject({
      message: "HI_API_BASE is not a web address: 'ftp://***@host'.",
      hint: 'Set it to an address such as http://localhost:8000/v1.',
    });
  });
});

describe('the small model', () => {
  it('is none if the main model is already the fast one', async () => {
    expect((await configOf({ provider: 'one', model: 'one-fast' }))?.small_model).toBeNull();
    expect((await configOf({ provider: 'local' }))?.small_model).toBeNull();
  });

  it('of the same provider has its key and address', async () => {
    const file = { provider: 'one', model: 'm', api_key: 'k', api_base: 'http://main', small_model: { model: 's' } };
    const reach = { provider: 'one', model: 's', api_key: 'k', key_source: 'api_key', api_base: 'http://main' };
    const small = { ...reach, context_window: 128_000, window_is_set: false };
    expect((await configOf(file))?.small_model).toEqual(small);
    const own = { model: 's', api_key: 'l', api_base: 'http://small', context_window: 2000 };
    const set = { provider: 'one', ...own, key_source: 'small_model.api_key', window_is_set: true };
    expect((await configOf({ ...file, small_model: own }))?.small_model).toEqual(set);
  });

  it('of another provider has neither, not even from a variable of hi', async () => {
    const file = { provider: 'one', model: 'm', api_key: 'k', small_model: { provider: 'two', model: 's' } };
    const env = { HI_API_KEY: 'h', HI_API_BASE: 'http://main', TWO_KEY: 't', TWO_BASE: 'http://two' };
    expect((await configOf(file, { env }))?.small_model).toMatchObject({ api_key: 't', api_base: 'http://two' });
    expect((await configOf(file, { env: {} }))?.small_model).toMatchObject({ api_key: null, api_base: null });
  });
});

describe('the window that shares are computed from', () => {
  const baseOf = async (file: ConfigFile): Promise<readonly [number, number | null]> => {
    const config = await configOf({ provider: 'one', model: 'claude-sonnet-5-5', ...file });
    if (!config) throw new Error('There is no configuration.');
    return [baseWindow(config, config, 1_000_000), restAfter(config, config)];
  };

  it('is what the user set, and then nothing rests unless that is set too', async () => {
    expect(await baseOf({ context_window: 1_000_000 })).toEqual([1_000_000, null]);
    expect(await baseOf({ context_window: 1_000_000, view: { rest: '90m' } })).toEqual([1_000_000, 5_400_000]);
  });

  it('is at most 128,000 where none is set, and then the conversation rests after an hour', async () => {
    expect(await baseOf({})).toEqual([128_000, 3_600_000]);
    expect(await baseOf({ view: { rest: 'off' } })).toEqual([128_000, null]);
    expect(await baseOf({ max_input_tokens: 400_000 })).toEqual([400_000, 3_600_000]);
  });
});

describe('no configuration at all', () => {
  const [local] = VENDORS.slice(-1);
  const errorOf = (address: string | null, answers: boolean, more: Partial<Vendor> = {}) => {
    if (local === undefined) throw new Error('There is none.');
    return notConfigured('/c/config.json', VENDORS, [{ vendor: { ...local, ...more }, address, answers }]);
  };

  it('is an error that names the file, the local server and the variables', () => {
    expect(errorOf(null, false)).toMatchObject({
      code: 'config',
      message:
        "hi is not configured: there is no '/c/config.json', no API key in the environment, and The local does not answer.",
      hint: "Run 'hi config init', or set one of ONE_KEY, TWO_KEY, THREE_KEY.",
    });
  });

  it('names the address that was set, and says what the server there lacks', () => {
    expect(errorOf('http://gpu:1', false)).toMatchObject({
      message: expect.stringContaining("and The local at 'http://gpu:1' does not answer."),
      hint: expect.stringContaining('Or start The local there, or correct LOCAL_BASE.'),
    });
    expect(errorOf('http://gpu:1', true, { hints: { firstModel: 'Get one first: pull it' } })).toMatchObject({
      message: expect.stringContaining("and The local at 'http://gpu:1' has no model."),
      hint: expect.stringContaining('For The local: get one first: pull it'),
    });
  });
});
