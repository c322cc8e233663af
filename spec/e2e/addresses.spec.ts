import { afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { chatServer, type VendorServer } from '../support/vendor-server.js';
import { dialects } from '../support/vendors.js';

let home: Home;
let server: VendorServer;

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  home.remove();
});

/** The headers of one question. */
async function asked(provider: string, config: JsonObject, env: Readonly<Record<string, string>> = {}) {
  const dialect = dialects.find((one) => one.provider === provider && !one.title.endsWith('Responses'));
  if (dialect === undefined) throw new Error(provider);
  server = await chatServer(dialect.text('Fine.'));
  home = makeHome({ provider, model: 'm', api_base: `${server.url}${dialect.path}`, ...config });
  const run = await runProgram(home, ['ask', 'hello'], { env });
  expect(run).toMatchObject({ status: 0, stdout: 'Fine.\n', stderr: '' });
  return server.requests[0]?.headers ?? {};
}

describe("a server with Anthropic's protocol", () => {
  it('needs no key, and knows the version', async () => {
    const headers = await asked('anthropic', {});
    expect(headers).toMatchObject({ 'anthropic-version': '2023-06-01' });
    expect(Object.keys(headers)).not.toContain('authorization');
    expect(Object.keys(headers)).not.toContain('x-api-key');
  });

  it('finds a key in either header', async () => {
    expect(await asked('anthropic', { api_key: 'KEY' })).toMatchObject({
      'x-api-key': 'KEY',
      authorization: 'Bearer KEY',
    });
  });

  it.each([
    ['x-api-key', 'authorization'],
    ['authorization', 'x-api-key'],
  ])('may get its credentials in `headers` alone: %s', async (name, other) => {
    const headers = await asked('anthropic', { headers: { [name]: 'secret-of-mine' } });
    expect(headers).toMatchObject({ [name]: 'secret-of-mine' });
    expect(Object.keys(headers)).not.toContain(other);
  });

  it('gets the token that is in the environment with its address', async () => {
    const headers = await asked('anthropic', {}, { ANTHROPIC_AUTH_TOKEN: 'TOKEN' });
    expect(headers).toMatchObject({ authorization: 'Bearer TOKEN' });
  });
});

it.each([
  ['anthropic', { ANTHROPIC_CUSTOM_HEADERS: 'X-Account: mine\nx-other: mine' }],
  ['openai', { OPENAI_CUSTOM_HEADERS: 'X-Account: mine', OPENAI_ORG_ID: 'mine', OPENAI_PROJECT_ID: 'mine' }],
])('sends nothing of an account with the vendor to another address: %s', async (provider, env) => {
  expect(JSON.stringify(await asked(provider, { api_key: 'KEY' }, env))).not.toContain('mine');
});

it('sends Gemini at another address no key where there is none, or the one in `headers`', async () => {
  expect(Object.keys(await asked('gemini', {}))).not.toContain('x-goog-api-key');
  home.remove();
  await server[Symbol.asyncDispose]();
  expect(await asked('gemini', { headers: { 'x-goog-api-key': 'KEY' } })).toMatchObject({ 'x-goog-api-key': 'KEY' });
});
