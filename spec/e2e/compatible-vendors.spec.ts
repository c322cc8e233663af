import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from '@jest/globals';
import { isJsonObject, type JsonObject, parseObject } from '../../lib/chat/json.js';
import {
  answerOf,
  COMPATIBLE_VENDORS,
  type CompatibleVendor,
  noToolsByChat,
  said,
} from '../support/compatible-vendors.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { chatServer, listingServer, refusal, sse, type VendorServer } from '../support/vendor-server.js';

const TURNS = Number(process.env.HI_TURNS ?? 3);
const PAGE = readFileSync(new URL('../../docs/compatible-servers.md', import.meta.url), 'utf8');

/** The configurations of the page, by the name of the service. */
const CONFIGS = new Map(
  [...PAGE.matchAll(/^### (.+)\n[^#]*?```json\n(.+)\n```/gm)].map(([, name = '', json = '']) => [
    name,
    parseObject(json) ?? {},
  ]),
);

const NAMES = COMPATIBLE_VENDORS.map(({ name }) => name);

let home: Home;
let server: VendorServer;

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  home.remove();
});

const questions = (count: number): string =>
  Array.from({ length: count }, (_, at) => `Question ${at}. look ${at % 3}\n`).join('');

/** The configuration as the page has it, but that requests go, without encryption, by the fake. */
function startAt(config: JsonObject): void {
  const address = String(config.api_base)
    .replace('https:', 'http:')
    .replace(/http:\/\/localhost:\d+/, server.url);
  home = makeHome({ ...config, api_base: address });
}

/** A conversation in one process, and as many questions after it in others; what was said on stderr. */
async function talk(later = 2): Promise<string> {
  const env = { HTTP_PROXY: server.url, NO_PROXY: '127.0.0.1' };
  const runs = [await runProgram(home, ['chat'], { input: questions(TURNS), env })];
  for (let at = 0; at < later; at += 1) runs.push(await runProgram(home, ['ask', 'And now? look 1'], { env }));
  expect(runs.map(({ status }) => status)).toEqual(runs.map(() => 0));
  return runs.map(({ stderr }) => stderr).join('');
}

const hasTools = ({ tools }: JsonObject): boolean => Array.isArray(tools) && tools.some(isJsonObject);

it.each(COMPATIBLE_VENDORS.map((vendor) => [vendor.name, vendor] as const))(
  '%s answers every turn with tools, and refuses nothing, with the configuration of the page',
  async (name, vendor) => {
    const refused: unknown[] = [];
    server = await chatServer((body, path, headers) => {
      const answer = said(vendor, { body, path, headers });
      if (answer.status !== undefined) refused.push([path, answer.chunks]);
      return answer;
    });
    const config = CONFIGS.get(name);
    if (config === undefined) throw new Error(`The page has no configuration for ${name}.`);
    expect([...CONFIGS.keys()].filter((one) => !NAMES.includes(one))).toEqual([]);
    startAt(config);
    await talk(0);
    expect(refused).toEqual([]);
    expect(server.requests.every(({ body }) => hasTools(body))).toBe(true);
    const calls = Array.from({ length: TURNS }, (_, at) => at % 3).reduce((all, one) => all + one, 0);
    expect(server.requests).toHaveLength(TURNS + calls);
  },
  60_000,
);

/** GPT-5.6 behind a gateway, which has a Responses API or none; the paths and whether each request was refused. */
async function gateway(base: string, hasResponses: boolean): Promise<[string, boolean][]> {
  const asked: [string, boolean][] = [];
  const answer = (body: JsonObject, path: string) => {
    if (path.includes('/responses'))
      return hasResponses
        ? answerOf('responses', 'none', body)
        : refusal(404, { error: { message: 'Resource not found' } });
    const broken = noToolsByChat(body);
    if (broken === null) return answerOf('chat', 'none', body);
    return refusal(400, { error: { message: broken, type: 'invalid_request_error', param: 'reasoning_effort' } });
  };
  server = await chatServer((body, path) => {
    const given = answer(body, path);
    asked.push([path, given.status !== undefined]);
    return given;
  });
  startAt({ provider: 'openai', api_key: 'KEY', model: 'gpt-5.6-sol', api_base: base });
  return asked;
}

it.each([
  ['https://gateway.example/v1', 'http://gateway.example/v1/responses'],
  [
    'https://name.openai.azure.com/openai/deployments/my-gpt?api-version=2025-04-01-preview',
    'http://name.openai.azure.com/openai/v1/responses',
  ],
])('speaks Responses from then on where a server says that its tools need it: %s', async (base, path) => {
  const asked = await gateway(base, true);
  const notices = await talk(1);
  expect(asked.filter(([, isRefused]) => isRefused)).toHaveLength(1);
  expect(new Set(asked.slice(1).map(([one]) => one))).toEqual(new Set([path]));
  expect(server.requests.every(({ body }) => hasTools(body))).toBe(true);
  expect(notices.match(/takes tools through the Responses API here/g)).toHaveLength(1);
});

it.each(['https://gateway.example/v1', 'https://name.openai.azure.com/openai/v1'])(
  'keeps the tools, and no thinking, where there is no Responses API: %s',
  async (base) => {
    const asked = await gateway(base, false);
    await talk(1);
    expect(asked.filter(([, isRefused]) => isRefused)).toHaveLength(2);
    const later = server.requests.slice(2);
    expect(later.every(({ body }) => hasTools(body) && body.reasoning_effort === 'none')).toBe(true);
  },
);

it.each(['DeepSeek', 'Kimi', 'DeepSeek by Messages'])(
  'continues a conversation with calls of another model at %s after one refusal, with tools',
  async (name) => {
    const vendor = COMPATIBLE_VENDORS.find((one) => one.name === name) as CompatibleVendor;
    let refused = 0;
    server = await chatServer((body, path, headers) => {
      if (path.startsWith('/')) return answerOf('chat', 'none', body);
      const answer = said(vendor, { body, path, headers });
      if (answer.status !== undefined) refused += 1;
      return answer;
    });
    startAt({ provider: 'openai', model: 'another', api_base: 'http://localhost:1/v1' });
    await talk(0);
    const before = server.requests.length;
    const config = CONFIGS.get(name) ?? {};
    home.writeConfig(JSON.stringify({ ...config, api_base: String(config.api_base).replace('https:', 'http:') }));
    await talk(1);
    expect(refused).toBe(1);
    expect(server.requests.slice(before).every(({ body }) => hasTools(body))).toBe(true);
  },
);

it.each([
  [
    'openai',
    'anthropic/claude-sonnet-5.5',
    ['openai/gpt-6-luna', 'anthropic/claude-haiku-5.5'],
    'anthropic/claude-haiku-5.5',
  ],
  ['anthropic', 'claude-sonnet-5-5', ['claude-haiku-5-5'], 'claude-haiku-5-5'],
  ['openai', 'gpt-6.1-sol', ['gpt-6-luna'], 'gpt-6-luna'],
  ['openai', 'gpt-6.1-sol', ['claude-haiku-5-5', 'gpt-6-luna-embed'], 'gpt-6.1-sol'],
  ['openai', 'qwen3-8b', ['gpt-6-luna'], 'qwen3-8b'],
])('summarises at a gateway by %s of %s, which lists %j, with %s', async (provider, model, others, writer) => {
  const list = { data: [model, ...others].map((id) => ({ id, type: 'model', object: 'model' })), has_more: false };
  server = await listingServer(refusal(200, list), (body) =>
    answerOf(provider === 'openai' ? 'chat' : 'messages', 'none', body),
  );
  home = makeHome({ provider, api_key: 'KEY', model, api_base: `${server.url}/v1` });
  const check = await runProgram(home, ['config', 'check', '--live']);
  expect(await runProgram(home, ['chat'], { input: `${questions(3)}/compact\n` })).toMatchObject({ status: 0 });
  expect(server.requests.at(-1)?.body).toMatchObject({ model: writer });
  expect(check.stdout).toContain(
    `${writer === model ? `the main model, ${model},` : `${provider}/${writer}`} writes them`,
  );
});

it.each(['', '/', '/openai', '/openai/v1/', '/openai/v1/responses'])(
  'speaks Responses at an address of Azure as its portal shows it: %s',
  async (path) => {
    server = await chatServer((body) => answerOf('responses', 'none', body));
    startAt({
      provider: 'openai',
      api_key: 'KEY',
      model: 'gpt-6.1-sol',
      api_base: `https://n.openai.azure.com${path}`,
    });
    await talk(0);
    expect(new Set(server.requests.map((one) => one.path))).toEqual(
      new Set(['http://n.openai.azure.com/openai/v1/responses']),
    );
  },
);

it.each<[string, JsonObject, string]>([
  ['a price', { cost: 0.0123 }, '$0.0369'],
  ['no price', {}, 'cost unknown'],
  ['that it is free', { cost: 0 }, '$0'],
  [
    "the vendor's price beside its own",
    { cost: 0.001, is_byok: true, cost_details: { upstream_inference_cost: 0.02 } },
    '$0.0630',
  ],
])('takes from OpenRouter, for three answers, %s', async (_what, usage, shown) => {
  const told = { choices: [], usage: { prompt_tokens: 100, completion_tokens: 10, ...usage } };
  server = await chatServer(
    sse({ choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] }, told, '[DONE]'),
  );
  startAt(CONFIGS.get('OpenRouter') ?? {});
  await talk(0);
  expect((await runProgram(home, ['usage'])).stdout).toContain(`  ${shown}`);
});

it.each(['[{"id":"a"},{"id":"b"}]', '["a","b"]', '{"models":[{"id":"a"},{"name":"b"}]}'])(
  'reads a list of models as %s',
  async (list) => {
    server = await listingServer({ headers: { 'content-type': 'application/json' }, chunks: [list] }, {});
    home = makeHome({ provider: 'openai', model: 'a', api_base: `${server.url}/v1` });
    expect((await runProgram(home, ['chat'], { input: '/model\n' })).stdout).toMatch(/^Available: b$|\bb$/m);
  },
);
