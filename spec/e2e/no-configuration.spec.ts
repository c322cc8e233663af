import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { openVendorHouse, type VendorHouse, type VendorName } from '../support/vendor-house.js';
import { listingServer, type VendorAnswer } from '../support/vendor-server.js';
import { dialects } from '../support/vendors.js';

let home: Home;
let house: VendorHouse | undefined;

afterEach(async () => {
  await house?.close();
  home.remove();
});

/** The vendor's own variables: its key's, and its address's. */
const VARIABLES: readonly (readonly [VendorName, string | null, string])[] = [
  ['openai', 'OPENAI_API_KEY', 'OPENAI_BASE_URL'],
  ['anthropic', 'ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL'],
  ['gemini', 'GEMINI_API_KEY', 'GOOGLE_GEMINI_BASE_URL'],
  ['gemini', 'GOOGLE_API_KEY', 'GOOGLE_GEMINI_BASE_URL'],
  ['ollama', null, 'OLLAMA_HOST'],
];

describe('without a configuration', () => {
  it.each(VARIABLES)('hi ask works with %s when %s is set', async (vendor, key, base) => {
    house = await openVendorHouse(vendor, { text: 'It simply works.', ...(key === null ? {} : { key: 'the-key' }) });
    home = makeHome(null);
    const env = { [base]: house.base, ...(key === null ? {} : { [key]: 'the-key' }) };
    expect(await runProgram(home, ['ask', 'hello'], { env })).toEqual({
      status: 0,
      stdout: 'It simply works.\n',
      stderr: '',
    });
    const piped = await runProgram(home, [], { env, input: 'hello from a pipe' });
    expect(piped).toMatchObject({ status: 0, stdout: 'It simply works.\n' });
    const told = JSON.parse((await runProgram(home, ['ask', '--json', 'x'], { env })).stdout);
    expect(told).toMatchObject({ provider: vendor });
    expect(existsSync(home.configFile)).toBe(false);
  });
});

describe('an address of a server alone', () => {
  /** A run of `hi ask` where the server at the address of OpenAI's variable answers the list of models with this. */
  async function askWith(list: VendorAnswer, env: Readonly<Record<string, string>> = {}) {
    const [chat] = dialects;
    await using server = await listingServer(list, chat?.text('Fine.') ?? {});
    home = makeHome(null);
    const run = await runProgram(home, ['ask', 'hello'], { env: { OPENAI_BASE_URL: `${server.url}/v1`, ...env } });
    return {
      ...run,
      host: new URL(server.url).host,
      asked: server.requests.map(({ path, body }) => body.model ?? path),
    };
  }

  const listOf = (...models: readonly JsonObject[]): VendorAnswer => ({
    chunks: [JSON.stringify({ object: 'list', data: [...models] })],
  });

  it.each<[string, JsonObject[]]>([
    ['by its name', [{ id: 'text-embedding-nomic-embed-text-v1.5' }, { id: 'qwen3-8b' }]],
    [
      'by its kind (LM Studio)',
      [
        { id: 'a', type: 'embeddings' },
        { id: 'qwen3-8b', type: 'llm' },
      ],
    ],
    [
      'by what it can (Mistral)',
      [
        { id: 'a', capabilities: { completion_chat: false } },
        { id: 'qwen3-8b', capabilities: { completion_chat: true } },
      ],
    ],
    [
      'by what comes out (OpenRouter)',
      [
        { id: 'a', architecture: { output_modalities: ['image'] } },
        { id: 'qwen3-8b', architecture: { output_modalities: ['text'] } },
      ],
    ],
  ])('chats with no model that is meant for something else: %s', async (_how, models) => {
    const run = await askWith(listOf(...models));
    expect(run).toMatchObject({ status: 0, stdout: 'Fine.\n' });
    expect(run.asked.at(-1)).toBe('qwen3-8b');
  });

  it.each<[string, VendorAnswer, number, RegExp]>([
    ['lists none', listOf(), 5, /^hi: The server at '.*\/v1' has no model\.\n {4}Load one there first\.\n$/],
    [
      'lists only one that embeds',
      listOf({ id: 'bge-m3' }),
      5,
      /lists no chat model: bge-m3\.\n {4}Choose one with -m NAME/,
    ],
    [
      'wants a key',
      { status: 401, chunks: ['{"error":{"message":"Unauthorized"}}'] },
      4,
      /refused the API key[^:]*: Unauthorized\.\n {4}Set OPENAI_API_KEY/,
    ],
    [
      'sends a page',
      { headers: { 'content-type': 'text/html' }, chunks: ['<html>'] },
      5,
      /does not list any: .*returned a web page\.\n {4}Choose one with .*\. Check api_base/,
    ],
    ['has no list', { status: 404, chunks: ['{}'] }, 5, /does not list any: .*\n {4}Choose one with /],
    ['never answers', { silent: true }, 5, /did not answer within 0\.5 s|sent nothing for/],
  ])('reports a server that %s, and asks no model', async (_what, list, status, said) => {
    const run = await askWith(list, { HI_IDLE_TIMEOUT_MS: '500' });
    expect(run).toMatchObject({ status, stdout: '', asked: ['/v1/models'] });
    expect(run.stderr).toMatch(said);
    const elsewhere = { env: { OPENAI_BASE_URL: 'http://127.0.0.1:9' } };
    expect(await runProgram(home, ['status'], elsewhere)).toMatchObject({ status: 0 });
    const shown = await runProgram(home, ['config', 'show'], elsewhere);
    expect(shown).toMatchObject({ status: 0, stderr: expect.stringContaining('127.0.0.1:9') });
    expect(JSON.parse(shown.stdout)).toMatchObject({ provider: 'openai', model: null });
  });

  it('of Ollama reports whether it is down or has no model', async () => {
    house = await openVendorHouse('ollama', { models: [] });
    home = makeHome(null);
    const empty = await runProgram(home, ['ask', 'hello'], { env: { OLLAMA_HOST: house.base } });
    expect(empty).toMatchObject({ status: 3, stdout: '' });
    expect(empty.stderr).toContain(`Ollama at '${house.base}' has no model.`);
    expect(empty.stderr).toContain('For Ollama: get one first, such as: ollama pull');
    await house.close();
    const gone = await runProgram(home, ['ask', 'hello'], { env: { OLLAMA_HOST: house.base } });
    expect(gone).toMatchObject({ status: 3, stdout: '' });
    expect(gone.stderr).toContain(`Ollama at '${house.base}' does not answer.`);
    expect(gone.stderr).toContain('Or start Ollama there, or correct OLLAMA_HOST.');
  });

  it('hi status tells of no window', async () => {
    home = makeHome(null);
    expect(JSON.parse((await runProgram(home, ['status', '--json'])).stdout)).toMatchObject({
      context_window: null,
      used: null,
    });
    expect((await runProgram(home, ['status'])).stdout).toMatch(/^window {7}\S+ tokens, of which window depends on/m);
  });
});
