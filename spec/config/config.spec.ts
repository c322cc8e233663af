import { chmodSync, lstatSync, mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import type { Vendor } from '../../lib/chat/model.js';
import { type ConfigFile, configSchema } from '../../lib/config/config.js';
import { findPaths } from '../../lib/config/paths.js';
import { type ConfigCheck, readConfig } from '../../lib/config/read-config.js';
import { maskKey, readKey } from '../../lib/config/read-key.js';
import { contextWindow, type Flags, resolveConfig } from '../../lib/config/resolve.js';
import { addRule, writeConfig } from '../../lib/config/write.js';
import { HiError } from '../../lib/errors.js';

const VENDORS: readonly Vendor[] = [
  {
    name: 'openai',
    title: 'OpenAI',
    keyPage: null,
    defaultModel: 'gpt-x',
    fastModel: 'gpt-x-mini',
    keyVariables: ['OPENAI_API_KEY'],
    baseVariable: 'OPENAI_BASE_URL',
    ownHosts: ['api.openai.com'],
  },
  {
    name: 'gemini',
    title: 'Gemini',
    keyPage: null,
    defaultModel: 'gem',
    fastModel: 'gem-lite',
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    baseVariable: 'GOOGLE_GEMINI_BASE_URL',
    ownHosts: ['generativelanguage.googleapis.com'],
  },
  {
    name: 'ollama',
    title: 'Ollama',
    keyPage: null,
    defaultModel: 'llama',
    fastModel: null,
    keyVariables: [],
    baseVariable: 'OLLAMA_HOST',
    ownHosts: [],
    port: 11_434,
  },
];
const schema = new Ajv({ allErrors: true, verbose: true, strict: false }).compile<ConfigFile>(
  configSchema({
    providers: VENDORS.map(({ name }) => name),
    strategies: ['summary', 'truncate', 'replace'],
    options: {},
  }),
);
const check: ConfigCheck = {
  accepts: (value): value is ConfigFile => schema(value),
  explaining: async () => schema,
};
const folder = () => mkdtempSync(join(tmpdir(), 'hi-config-'));

function fileOf(text: string): string {
  const path = join(folder(), 'config.json');
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

async function resolve(
  file: ConfigFile | null,
  flags: Flags = {},
  env: Record<string, string> = {},
  local: readonly string[] | null = null,
) {
  const models = async () => {
    if (local === null) throw new HiError('network', 'Nothing answers.');
    return local.map((name) => ({ name, chats: true }));
  };
  return (await resolveConfig({ file, flags, env, vendors: VENDORS, models })).config;
}

describe('config.json', () => {
  it('may be missing, unless the user named it', async () => {
    const path = join(folder(), 'none.json');
    await expect(readConfig(path, check, false)).resolves.toEqual({ file: null, warnings: [] });
    await expect(readConfig(path, check, true)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining(path),
    });
  });

  it('reports all mistakes at once, each with its path, its value and the fix', async () => {
    const path = fileOf(
      JSON.stringify({
        provder: 'openai',
        provider: 'opnai',
        compaction: { keep_recent: 'six', strategie: 1 },
        api_base: 'localhost',
        model: '',
      }),
    );
    await expect(readConfig(path, check, false)).rejects.toMatchObject({
      code: 'config',
      message: [
        `'${path}' has 6 errors:`,
        "  $.provder: unknown key 'provder'; did you mean 'provider'?",
        '  $.provider: "opnai" is not one of "openai", "gemini", "ollama"; did you mean "openai"?',
        '  $.model: the value is empty; set it, or remove the key',
        '  $.api_base: "localhost" is not an address; it must begin with http:// or https://',
        "  $.compaction.strategie: unknown key 'strategie'; did you mean 'strategy'?",
        '  $.compaction.keep_recent: "six" is not an integer',
      ].join('\n'),
      hint: expect.stringContaining('hi config check'),
    });
  });

  it('never prints an invalid key', async () => {
    const path = fileOf(JSON.stringify({ api_key: ['sk-secret'] }));
    await expect(readConfig(path, check, false)).rejects.toMatchObject({
      message: expect.not.stringContaining('sk-secret'),
    });
  });

  it('says where JSON is invalid', async () => {
    const path = fileOf('{\n  "provider": "openai",\n}');
    await expect(readConfig(path, check, false)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(/is not valid JSON: .*line 3/),
    });
  });

  it.each(['644', '640', '604', '660'])('warns when others can read it, by its mode %s', async (mode) => {
    const path = fileOf('{"provider":"ollama"}');
    chmodSync(path, Number.parseInt(mode, 8));
    const { warnings } = await readConfig(path, check, false);
    expect(warnings).toEqual([`Other users can read '${path}' (mode ${mode}). Run: chmod 600 '${path}'`]);
  });

  it.each(['600', '400', '700'])('warns of nothing when the user alone can read it, by its mode %s', async (mode) => {
    const path = fileOf('{"provider":"ollama"}');
    chmodSync(path, Number.parseInt(mode, 8));
    expect((await readConfig(path, check, false)).warnings).toEqual([]);
  });

  it('is written to the target of a link, and the link stays', async () => {
    const place = folder();
    const [real, link] = [join(place, 'dotfile.json'), join(place, 'config.json')];
    writeFileSync(real, '{}');
    symlinkSync(real, link);
    await writeConfig(link, { provider: 'ollama' });
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(real, 'utf8'))).toEqual({ provider: 'ollama' });
  });

  it("is written to a link's target that does not exist yet, unless its folder is missing", async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hi-config-'));
    const link = join(folder, 'config.json');
    symlinkSync('real.json', link);
    await writeConfig(link, { provider: 'ollama' });
    expect(JSON.parse(readFileSync(join(folder, 'real.json'), 'utf8'))).toEqual({ provider: 'ollama' });
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    const lost = join(folder, 'lost.json');
    symlinkSync('unmounted/real.json', lost);
    await expect(writeConfig(lost, {})).rejects.toMatchObject({ code: 'config' });
    expect(lstatSync(lost).isSymbolicLink()).toBe(true);
  });

  it('may begin with a BOM when a rule is added', async () => {
    const path = join(folder(), 'config.json');
    writeFileSync(path, '\uFEFF{"provider": "openai"}', { mode: 0o600 });
    await addRule(path, 'bash(git status:*)');
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      provider: 'openai',
      tools: { permissions: { allow: ['bash(git status:*)'] } },
    });
  });

  it('is readable by the user alone, and adding a rule changes nothing else', async () => {
    const path = join(folder(), 'sub', 'config.json');
    await writeConfig(path, { provider: 'openai', tools: { max_rounds: 3 } });
    await addRule(path, 'bash(git status:*)');
    await addRule(path, 'bash(git status:*)');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      provider: 'openai',
      tools: { max_rounds: 3, permissions: { allow: ['bash(git status:*)'] } },
    });
  });
});

describe('the effective configuration', () => {
  it('takes each setting from flag, then environment, then file, then default', async () => {
    const file = { provider: 'openai', model: 'from-file', api_key: 'file-key' };
    expect(await resolve(file)).toMatchObject({ model: 'from-file', api_key: 'file-key' });
    expect(await resolve(file, {}, { HI_MODEL: 'from-env', HI_API_KEY: 'env-key' })).toMatchObject({
      model: 'from-env',
      api_key: 'env-key',
    });
    expect(await resolve(file, { model: 'from-flag' }, { HI_MODEL: 'from-env' })).toMatchObject({ model: 'from-flag' });
    expect(await resolve({ provider: 'openai' }, {}, { OPENAI_API_KEY: 'k' })).toMatchObject({
      model: 'gpt-x',
      api_key: 'k',
    });
  });

  it("prefers the file's key to a vendor's variable, which other programs use too", async () => {
    const config = await resolve({ provider: 'openai', api_key: 'mine' }, {}, { OPENAI_API_KEY: 'shared' });
    expect(config?.api_key).toBe('mine');
  });

  it('reads provider/model, and leaves a gateway’s own names alone', async () => {
    expect(await resolve({ provider: 'openai' }, { model: 'gemini/gem-2' })).toMatchObject({
      provider: 'gemini',
      model: 'gem-2',
    });
    expect(await resolve({ provider: 'openai' }, { model: 'meta/llama' })).toMatchObject({
      provider: 'openai',
      model: 'meta/llama',
    });
  });

  it("does not send one vendor's key, address or model to another", async () => {
    const file = {
      provider: 'openai',
      model: 'm',
      api_key: 'openai-key',
      api_base: 'http://127.0.0.1:1/v1',
      context_window: 5000,
    };
    expect(await resolve(file, { provider: 'gemini' }, { GEMINI_API_KEY: 'g' })).toMatchObject({
      provider: 'gemini',
      model: 'gem',
      api_key: 'g',
      api_base: null,
      context_window: 128_000,
    });
  });

  it('works with a key in the environment alone, else with Ollama when it answers', async () => {
    expect(await resolve(null, {}, { GOOGLE_API_KEY: 'g' })).toMatchObject({ provider: 'gemini', api_key: 'g' });
    expect(await resolve(null, {}, {}, ['qwen', 'llama'])).toMatchObject({
      provider: 'ollama',
      model: 'qwen',
      api_key: null,
    });
    expect(await resolve(null, {}, {}, null)).toBeNull();
    expect(await resolve(null, {}, {}, [])).toBeNull();
  });

  it('uses the vendor’s fast model for summaries, but not at another address', async () => {
    const env = { OPENAI_API_KEY: 'k' };
    expect((await resolve({ provider: 'openai' }, {}, env))?.small_model).toMatchObject({
      model: 'gpt-x-mini',
      api_key: 'k',
    });
    const elsewhere = { provider: 'openai', api_base: 'http://127.0.0.1:1' };
    expect((await resolve(elsewhere, {}, env, ['m']))?.small_model).toBeNull();
    expect((await resolve({ provider: 'openai', small_model: null }, {}, env))?.small_model).toBeNull();
    const other = await resolve(
      { provider: 'openai', small_model: { provider: 'gemini', model: 'lite' } },
      {},
      { ...env, GEMINI_API_KEY: 'g' },
    );
    expect(other?.small_model).toMatchObject({ provider: 'gemini', model: 'lite', api_key: 'g' });
  });

  it.each([
    'https://api.openai.com/v1',
    'https://api.openai.com/v1/',
    'https://api.openai.com',
    'https://API.openai.com:443/v1',
    'https://api.openai.com./v1',
    'https://eu.api.openai.com/v1',
    'https://us.api.openai.com/v1',
  ])('uses it at an address of the vendor itself: %s', async (address) => {
    const env = { OPENAI_API_KEY: 'k' };
    const small = { model: 'gpt-x-mini', api_key: 'k', api_base: address };
    expect((await resolve({ provider: 'openai', api_base: address }, {}, env))?.small_model).toMatchObject(small);
    for (const name of ['OPENAI_BASE_URL', 'HI_API_BASE']) {
      expect((await resolve({ provider: 'openai' }, {}, { ...env, [name]: address }))?.small_model).toMatchObject(
        small,
      );
    }
  });

  it.each([
    'https://api.openai.com.example.com/v1',
    'https://myapi.openai.com/v1',
    'https://name.openai.azure.com/openai/v1',
    'https://api.openai.com:8443/v1',
    'https://example.com/api.openai.com/v1',
    'https://api.openai.com@example.com/v1',
  ])('does not use it at an address that only looks like one: %s', async (address) => {
    const env = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: address };
    expect((await resolve({ provider: 'openai' }, {}, env, ['m']))?.small_model).toBeNull();
  });

  it('fills in the missing keys of a section', async () => {
    const config = await resolve({
      provider: 'openai',
      compaction: { keep_recent: 2 },
      tools: { permissions: { deny: ['bash'] } },
    });
    expect(config?.compaction).toMatchObject({ keep_recent: 2, trigger_ratio: 0.8, strategy: 'summary' });
    expect(config?.tools.permissions).toEqual({ allow: [], ask: [], deny: ['bash'] });
  });

  it.each([
    ['192.168.1.5', 'http://192.168.1.5:11434'],
    ['gpu.example:8000', 'http://gpu.example:8000'],
    [':8000', 'http://127.0.0.1:8000'],
    ['https://gpu.example', 'https://gpu.example'],
  ])('reads OLLAMA_HOST=%s like Ollama', async (given, address) => {
    const config = await resolve({ provider: 'ollama' }, {}, { OLLAMA_HOST: given }, ['llama']);
    expect(config?.api_base).toBe(address);
  });

  it.each([
    ['HI_API_BASE', { HI_API_BASE: '127.0.0.1:8000/v1' }, '127.0.0.1:8000/v1'],
    ['HI_API_BASE', { HI_API_BASE: 'localhost:8000/v1' }, 'localhost:8000/v1'],
    ['HI_API_BASE', { HI_API_BASE: 'http://me:secret@127.0.0.1:99999/v1' }, 'http://***@127.0.0.1:99999/v1'],
    ['OLLAMA_HOST', { OLLAMA_HOST: 'http://' }, 'http://'],
  ])('refuses an invalid address, and names its source: %s', async (name, env, shown) => {
    await expect(resolve({ provider: 'ollama' }, {}, env, ['llama'])).rejects.toMatchObject({
      code: 'config',
      message: `${name} is not a web address: '${shown}'.`,
    });
  });

  it('refuses an invalid address in the file too, also of the small model', async () => {
    const small_model = { model: 'small', api_base: 'https://:1' };
    await expect(resolve({ provider: 'openai', api_base: 'http://a:b' })).rejects.toThrow(
      "api_base is not a web address: 'http://a:b'.",
    );
    await expect(resolve({ provider: 'openai', small_model })).rejects.toThrow(
      "api_base is not a web address: 'https://:1'.",
    );
  });

  it('treats an empty variable as unset', async () => {
    const empty = { HI_PROVIDER: '', HI_MODEL: '', HI_API_BASE: '', HI_API_KEY: '', OLLAMA_HOST: '' };
    expect(await resolve({ provider: 'openai', model: 'mine', api_key: 'k' }, {}, empty)).toMatchObject({
      provider: 'openai',
      model: 'mine',
      api_key: 'k',
      api_base: null,
    });
  });

  it('refuses an unknown provider', async () => {
    await expect(resolve(null, { provider: 'opnai' })).rejects.toMatchObject({
      code: 'config',
      hint: expect.stringContaining("'openai'"),
    });
  });
});

describe('context windows', () => {
  it('are known for models with published ones, and 128000 for others', async () => {
    expect(contextWindow('claude-haiku-4-5')).toBe(200_000);
    expect(contextWindow('anthropic/claude-haiku-4-5')).toBe(200_000);
    expect(contextWindow('gemini-2.5-flash')).toBe(1_048_576);
    expect(contextWindow('claude-haiku-5-5-20270101')).toBe(1_000_000);
    expect(contextWindow('claude-fable-5-2')).toBe(1_000_000);
    expect(contextWindow('gemini-flash-latest')).toBe(1_048_576);
    expect(contextWindow('google/gemini-3.1-pro-preview')).toBe(1_048_576);
    expect(contextWindow('gpt-6.1-sol')).toBe(1_050_000);
    expect(contextWindow('gpt-5.4-mini')).toBe(400_000);
    expect(contextWindow('deepseek-v4')).toBe(1_000_000);
    expect(contextWindow('kimi-k2.5')).toBe(262_144);
    expect(contextWindow('a-model-nobody-knows')).toBe(128_000);
  });
});

describe('paths', () => {
  it('follow HI_*_DIR', async () => {
    const paths = await findPaths({ HI_CONFIG_DIR: '/c', HI_DATA_DIR: '/d', HI_CACHE_DIR: '/e' }, null);
    expect(paths).toMatchObject({
      configFile: '/c/config.json',
      history: '/d/history.json.zst',
      skills: '/c/skills',
      cache: '/e',
    });
    expect((await findPaths({ HI_CONFIG_DIR: '/c' }, '/x.json')).configFile).toBe('/x.json');
  });
});

describe('a key', () => {
  it('is the output of a command that begins with !', async () => {
    await expect(readKey('!printf "sk-1\\nrest"')).resolves.toBe('sk-1');
    await expect(readKey('sk-2')).resolves.toBe('sk-2');
    await expect(readKey('!exit 3')).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining("'exit 3'"),
    });
    await expect(readKey('!true')).rejects.toMatchObject({ code: 'config' });
  });

  it('is shown by its end only', () => {
    expect(maskKey('sk-abcdefghijkl1234')).toBe('…1234');
    expect(maskKey('short')).toBe('…');
    expect(maskKey('!pass show key')).toBe('!pass show key');
  });
});
