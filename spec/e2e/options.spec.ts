import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { chatServer, type VendorAnswer, type VendorServer } from '../support/vendor-server.js';
import { dialects } from '../support/vendors.js';

let home: Home;
let server: VendorServer;

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  home.remove();
});

async function start(config: JsonObject, path: string, ...answers: readonly VendorAnswer[]): Promise<void> {
  server = await chatServer(...answers);
  home = makeHome({ model: 'm', api_key: 'key-of-the-spec', api_base: `${server.url}${path}`, ...config });
}

const hi = (...args: string[]) => runProgram(home, args);

/** What each vendor's request has of these options. */
const SENT: Readonly<Record<string, JsonObject>> = {
  'OpenAI Chat Completions': { temperature: 0.25, top_p: 0.5, max_tokens: 321 },
  'OpenAI Responses': { temperature: 0.25, top_p: 0.5, max_output_tokens: 321 },
  Anthropic: { temperature: 0.25, top_p: 0.5, max_tokens: 321 },
  Gemini: { generationConfig: { temperature: 0.25, topP: 0.5, maxOutputTokens: 321 } },
  Ollama: { options: { temperature: 0.25, top_p: 0.5, num_predict: 321 } },
};

describe.each(dialects.map((dialect) => [dialect.title, dialect] as const))('%s', (title, dialect) => {
  const { provider, path, settings, text } = dialect;
  const config = { provider, ...(settings.options && { [provider]: settings.options }) };

  it('gets the options and the headers', async () => {
    const options = { temperature: 0.25, top_p: 0.5, max_output_tokens: 321 };
    await start({ ...config, options, headers: { 'X-Team': 'blue', 'User-Agent': 'mine' } }, path, text('Hello.'));
    expect(await hi('ask', 'x')).toEqual({ status: 0, stdout: 'Hello.\n', stderr: '' });
    expect(server.requests[0]?.body).toMatchObject(SENT[title] ?? {});
    expect(server.requests[0]?.headers).toMatchObject({ 'x-team': 'blue', 'user-agent': 'mine' });
  });

  it('gets what no table knows as it is, and a refusal of it leaves it out', async () => {
    const extra_headers = { 'x-extra': 'yes' };
    const extra_body = { brand_new: { type: 'disabled' } };
    const options = { temperature: 0.25, extra_body, extra_headers };
    await start({ ...config, options }, path, text('Hello.'));
    expect(await hi('ask', 'x')).toEqual({ status: 0, stdout: 'Hello.\n', stderr: '' });
    expect(server.requests[0]?.body).toMatchObject(extra_body);
    expect(server.requests[0]?.headers).toMatchObject(extra_headers);
    expect(JSON.stringify(server.requests[0]?.body)).not.toContain('extra');
    const check = await hi('config', 'check');
    expect(check.stdout).toMatch(/^- +options: .*brand_new.* sent as (?:it is|they are), unchecked/m);
  });

  it('does not get those of another provider', async () => {
    const other = provider === 'gemini' ? 'anthropic' : 'gemini';
    await start(
      { ...config, provider: other, options: { temperature: 0.25 }, headers: { 'X-Team': 'blue' } },
      path,
      text('Hello.'),
    );
    const env = { HI_API_BASE: `${server.url}${path}`, HI_API_KEY: 'k' };
    const run = await runProgram(home, ['ask', '--provider', provider, '-m', 'm', 'x'], { env });
    expect(run.status).toBe(0);
    expect(JSON.stringify(server.requests[0]?.body)).not.toContain('0.25');
    expect(server.requests[0]?.headers).not.toHaveProperty('x-team');
  });

  it('refuses an option that it does not have, with the nearest name', async () => {
    await start({ ...config, options: { temprature: 1 } }, path);
    const run = await hi('ask', 'x');
    expect(run.status).toBe(3);
    expect(run.stderr).toContain("  $.options.temprature: unknown key 'temprature'; did you mean 'temperature'?\n");
    expect(run.stderr).toContain('has an error:');
    expect(server.requests).toEqual([]);
  });
});

const [chat] = dialects;
const hello = chat?.text('Hello.') ?? {};

it.each([
  ['an option of another provider', 'anthropic', { seed: 1 }, "$.options.seed: unknown key 'seed'"],
  ['a word for a number', 'openai', { temperature: 'warm' }, '$.options.temperature: "warm" is not a number'],
  ['a number out of range', 'openai', { top_p: 7 }, '$.options.top_p: 7 must be <= 1'],
  [
    'an unknown service tier',
    'openai',
    { service_tier: 'best' },
    '$.options.service_tier: "best" is not one of "auto", "default", "flex", "scale", "priority", "fast", "ultrafast"',
  ],
  ['what no provider has, where none is named', null, { warmth: 1 }, "$.options.warmth: unknown key 'warmth'"],
])('refuses %s', async (_what, provider, options, message) => {
  await start({ ...(provider !== null && { provider }), options }, '/v1');
  const run = await runProgram(home, ['ask', 'x'], { env: { OPENAI_API_KEY: 'k' } });
  expect(run.status).toBe(3);
  expect(run.stderr).toContain(message);
});

it('accepts any provider’s options if no provider is named', async () => {
  await start({ options: { top_k: 3 } }, '/v1', hello);
  const run = await runProgram(home, ['ask', 'x'], { env: { OPENAI_API_KEY: 'k' } });
  expect(run.status).toBe(0);
  expect(server.requests[0]?.body).toMatchObject({ top_k: 3 });
});

it('does not send the options with summaries, but the headers', async () => {
  const compaction = { strategy: 'replace' };
  const config = { provider: 'openai', options: { temperature: 0.25 }, headers: { 'X-Team': 'blue' }, compaction };
  await start(config, '/v1', hello, hello);
  await hi('ask', 'x');
  await hi('compact');
  expect(server.requests[0]?.body).toMatchObject({ temperature: 0.25 });
  expect(server.requests[1]?.body).not.toHaveProperty('temperature');
  expect(server.requests[1]?.headers).toMatchObject({ 'x-team': 'blue' });
});

describe('the value of a header', () => {
  const headers = { 'X-Gateway': 'gw-0123456789' };

  it('is in no log and no list of settings', async () => {
    await start({ provider: 'openai', headers }, '/v1', {
      status: 400,
      chunks: [JSON.stringify({ error: { message: 'X-Gateway gw-0123456789 is not known' } })],
    });
    const run = await hi('ask', '--debug', 'x');
    expect(run.status).toBe(5);
    const log = readFileSync(join(home.data, '../cache/debug.log'), 'utf8');
    expect(log).toContain('"x-gateway":"***"');
    expect(log).not.toContain('gw-0123456789');
    expect(run.stderr).not.toContain('gw-0123456789');
    const shown = await hi('config', 'show');
    expect(JSON.parse(shown.stdout)).toMatchObject({ headers: { 'X-Gateway': '***' } });
  });

  it.each([
    ['a line break', { 'X-A': 'secret\nX-B: 1' }, '$.headers.X-A: the value is not valid for a header'],
    ['no text', { 'X-A': 7 }, '$.headers.X-A: the value is not a string'],
    ['a name that is none', { 'X A': 'b' }, "'X A' is not a valid name for a header"],
  ])('is refused with %s', async (_what, wrong, message) => {
    await start({ provider: 'openai', headers: wrong }, '/v1');
    const run = await hi('ask', 'x');
    expect(run.status).toBe(3);
    expect(run.stderr).toContain(message);
    expect(run.stderr).toContain('has an error:');
    expect(run.stderr).not.toContain('secret');
  });

  it('goes to no other address', async () => {
    await start({ provider: 'openai', headers }, '/v1', hello, hello);
    await using other = await chatServer(hello);
    home.writeConfig(
      JSON.stringify({
        provider: 'openai',
        model: 'm',
        api_key: 'k',
        api_base: `${server.url}/v1`,
        headers,
        small_model: { model: 's', api_base: `${other.url}/v1` },
        compaction: { strategy: 'replace' },
      }),
    );
    await hi('ask', 'x');
    await hi('compact');
    expect(server.requests[0]?.headers).toMatchObject({ 'x-gateway': 'gw-0123456789' });
    expect(other.requests[0]?.headers).not.toHaveProperty('x-gateway');
  });
});

it.each([
  [
    'openai',
    { openai: { api: 'responses' } },
    '/v1',
    { reasoning: { mode: 'pro' } },
    { reasoning: { mode: 'pro', effort: 'low' } },
  ],
  [
    'anthropic',
    {},
    '',
    { fallbacks: [{ model: 'b' }], context_management: { edits: [] } },
    { fallbacks: [{ model: 'b' }] },
  ],
])('the newer options of %s are sent, beside what hi itself says', async (provider, own, path, options, sent) => {
  const title = provider === 'openai' ? 'OpenAI Responses' : 'Anthropic';
  const [answer] = dialects.filter((one) => one.title === title).map(({ text }) => text('Hello.'));
  await start({ provider, ...own, model: 'gpt-6.1-sol', options }, path, answer ?? {});
  expect(await hi('ask', '--think', 'low', 'x')).toMatchObject({ status: 0 });
  expect(server.requests[0]?.body).toMatchObject(sent);
});
