import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import { KNOWN_SERVERS } from '../../lib/servers/known-servers.js';
import { type ManyServers, manyServers, type ReachedRequest } from '../support/many-servers.js';
import { makeHome, runProgram } from '../support/program.js';
import { refusal, type VendorAnswer } from '../support/vendor-server.js';
import { dialects } from '../support/vendors.js';

/** What a host says instead of an answer. */
let says: Readonly<Record<string, VendorAnswer>> = {};
let servers: ManyServers;

function answerTo({ host, method, path }: ReachedRequest): VendorAnswer | null {
  if (method === 'GET') return { status: 404, chunks: ['{}'] };
  const title = path.includes('/responses')
    ? 'OpenAI Responses'
    : path.includes('/messages')
      ? 'Anthropic'
      : 'OpenAI Chat Completions';
  return says[host] ?? dialects.find((one) => one.title === title)?.text(`from ${host}`) ?? null;
}

beforeAll(async () => {
  servers = await manyServers(answerTo);
});
afterAll(async () => await servers[Symbol.asyncDispose]());

const PAGE = readFileSync(new URL('../../docs/configure.md', import.meta.url), 'utf8');
const [, SECTION = ''] = PAGE.split('## Five set-ups');
const SETUPS = [...(SECTION.split('\n## ')[0] ?? '').matchAll(/### (.+)\n[^#]*?```json\n([^`]+)```/g)].map(
  ([, name = '', json = '']) => [name, json] as const,
);

/** Who answers each, and who does when those hosts fail. */
const ANSWERS: Readonly<Record<string, readonly [string, failing: string, next: string]>> = {
  'A vendor, and your own machine when it is down': ['api.anthropic.com', 'api.anthropic.com', 'localhost:8000'],
  'A gateway at work, and a vendor at home': ['gateway.example', '-m home', 'api.anthropic.com'],
  'A service that needs only its variable, and another behind it': ['api.groq.com', 'api.groq.com', 'api.mistral.ai'],
  'Summaries on your own machine': ['api.openai.com', '-m local', 'localhost:8000'],
  'Two dollars a day, and then your own machine by hand': ['api.openai.com', '-m local', 'localhost:8000'],
};

it.each(SETUPS)('the manual’s set-up works: %s', async (name, json) => {
  const home = makeHome(JSON.parse(json));
  const env = { ...servers.env, GROQ_API_KEY: 'GROQ', MISTRAL_API_KEY: 'MISTRAL' };
  const [first, other, next] = ANSWERS[name] ?? [];
  try {
    expect((await runProgram(home, ['ask', 'hello'], { env })).stdout).toBe(`from ${first}\n`);
    const named = other?.startsWith('-m ') ? other.split(' ') : [];
    says = named.length > 0 ? {} : { [other ?? '']: refusal(401, { error: { message: 'Expired' } }) };
    expect((await runProgram(home, ['ask', ...named, 'hello'], { env })).stdout).toBe(`from ${next}\n`);
  } finally {
    says = {};
    home.remove();
  }
});

it('there are five set-ups in the manual', () => {
  expect(SETUPS.map(([name]) => name)).toEqual(Object.keys(ANSWERS));
});

/** What each service says to a wrong key, as its documentation or its users show it. */
const WRONG_KEY: Readonly<Record<string, readonly [status: number, body: JsonObject]>> = {
  openrouter: [401, { error: { message: 'No auth credentials found', code: 401 } }],
  groq: [401, { error: { message: 'Invalid API Key', type: 'invalid_request_error', code: 'invalid_api_key' } }],
  mistral: [401, { message: 'Unauthorized', request_id: '7f' }],
  deepseek: [
    401,
    { error: { message: 'Authentication Fails, Your api key is invalid', type: 'authentication_error', param: null } },
  ],
  xai: [400, { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: XA***ET.' }],
  together: [401, { error: { message: 'Invalid API key provided.', type: 'invalid_request_error', param: null } }],
  fireworks: [401, { error: { object: 'error', type: 'invalid_request_error', message: 'The API key is invalid.' } }],
  cerebras: [401, { message: 'Wrong API Key', type: 'invalid_request_error', code: 'wrong_api_key' }],
  github: [401, { error: { code: 'unauthorized', message: 'Bad credentials', details: 'Bad credentials' } }],
  azure: [401, { error: { code: '401', message: 'Access denied due to invalid subscription key.' } }],
};

it('a wrong key is told as one by every service, with the variable that holds it', async () => {
  const home = makeHome(null);
  const azure = { AZURE_OPENAI_ENDPOINT: 'https://mine.openai.azure.com', AZURE_OPENAI_DEPLOYMENT: 'my-gpt' };
  const keys = Object.fromEntries(KNOWN_SERVERS.map(({ keyVariable }) => [keyVariable, `${keyVariable}-IS-SECRET`]));
  const env = { ...servers.env, ...azure, ...keys };
  try {
    for (const { name, keyVariable, address } of KNOWN_SERVERS) {
      const [status, body] = WRONG_KEY[name] ?? [500, {}];
      says = { [new URL(address(azure) ?? '').host]: refusal(status, body) };
      const run = await runProgram(home, ['ask', '-m', name, 'hello'], { env });
      expect([name, run.status, run.stderr.includes(keyVariable)]).toEqual([name, 4, true]);
    }
  } finally {
    says = {};
    home.remove();
  }
}, 30_000);
