import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { ErrorCode } from '../../lib/errors.js';
import { KNOWN_SERVERS, type KnownServer } from '../../lib/servers/known-servers.js';
import { type ManyServers, manyServers, type ReachedRequest } from '../support/many-servers.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { SERVICE_ERRORS } from '../support/service-errors.js';
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

/** With the variables of every service, and one host more behind them. */
async function withEveryService(
  work: (ask: (...args: readonly string[]) => ReturnType<typeof runProgram>, home: Home) => Promise<void>,
): Promise<void> {
  const names = KNOWN_SERVERS.map(({ name }) => name);
  const last = { last: { api_base: 'http://last.example/v1', model: 'm' } };
  const home = makeHome({
    model: names[0],
    servers: { [names[0] ?? '']: {}, ...last },
    fallback: [...names.slice(1), 'last'],
  });
  const keys = Object.fromEntries(KNOWN_SERVERS.map(({ keyVariable }) => [keyVariable, `${keyVariable}-IS-SECRET`]));
  const env = { ...servers.env, ...AZURE, ...keys };
  try {
    await work(async (...args) => await runProgram(home, ['ask', ...args], { env }), home);
  } finally {
    says = {};
    home.remove();
  }
}

const AZURE = { AZURE_OPENAI_ENDPOINT: 'https://mine.openai.azure.com', AZURE_OPENAI_DEPLOYMENT: 'my-gpt' };
const hostOf = ({ address }: KnownServer): string => new URL(address(AZURE) ?? '').host;

/** What each service says for that reason; nothing where it has no words for it. */
function failing(kind: ErrorCode): Readonly<Record<string, VendorAnswer>> {
  const rows = KNOWN_SERVERS.map((service) => {
    const row = SERVICE_ERRORS.find((one) => one.service === service.name && one.kind === kind);
    return [
      hostOf(service),
      row === undefined ? null : refusal(row.status, row.body, { 'retry-after': '900' }),
    ] as const;
  });
  return Object.fromEntries(rows.flatMap(([host, said]) => (said === null ? [] : [[host, said] as const])));
}

it.each<ErrorCode>(['key', 'quota', 'rate'])(
  'a question passes through every service that fails for the reason "%s"',
  async (kind) => {
    await withEveryService(async (ask, home) => {
      says = failing(kind);
      const run = await ask('hello');
      const first = KNOWN_SERVERS.find((service) => says[hostOf(service)] === undefined);
      expect(run.stdout).toBe(`from ${first === undefined ? 'last.example' : hostOf(first)}\n`);
      const failed = KNOWN_SERVERS.slice(0, first === undefined ? undefined : KNOWN_SERVERS.indexOf(first));
      expect(run.stderr.match(/'[a-z]+' does not answer/g)).toEqual(
        failed.map(({ name }) => `'${name}' does not answer`),
      );
      expect(run.stderr + readFileSync(join(home.folder, 'cache', 'servers.json'), 'utf8')).not.toContain('IS-SECRET');
      if (kind === 'key') for (const { keyVariable } of failed) expect(run.stderr).toContain(`from ${keyVariable}`);
    });
  },
);

it('refused content is told by the service that refused it, and no other is asked', async () => {
  await withEveryService(async (ask) => {
    says = failing('refused');
    for (const service of KNOWN_SERVERS.filter((one) => says[hostOf(one)] !== undefined)) {
      const before = servers.requests.length;
      const run = await ask('-m', service.name, 'hello');
      expect([service.name, run.status, run.stderr.includes('refused the content')]).toEqual([service.name, 5, true]);
      expect(new Set(servers.requests.slice(before).map(({ host }) => host))).toEqual(new Set([hostOf(service)]));
    }
  });
});
