import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { KNOWN_SERVERS } from '../../lib/servers/known-servers.js';
import { type AnswerOf, type ManyServers, manyServers, type ReachedRequest } from '../support/many-servers.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { refusal } from '../support/vendor-server.js';
import { dialects } from '../support/vendors.js';

/** How the server at a path speaks. */
const dialectAt = (path: string) =>
  dialects.find(({ title }) =>
    path.includes('/responses')
      ? title === 'OpenAI Responses'
      : path.includes('/messages')
        ? title === 'Anthropic'
        : path.includes('/api/chat')
          ? title === 'Ollama'
          : title === 'OpenAI Chat Completions',
  );

const LIST = { chunks: ['{"data":[{"id":"first","context_length":32768},{"id":"second"}]}'] };

const answering: AnswerOf = ({ host, method, path }) => {
  if (method === 'GET') return path.includes('/api/tags') ? { status: 404, chunks: ['{}'] } : LIST;
  return path.endsWith('/api/show') ? { status: 404, chunks: ['{}'] } : (dialectAt(path)?.text(`from ${host}`) ?? null);
};

let servers: ManyServers;
let home: Home;
let answer: AnswerOf = answering;

beforeAll(async () => {
  servers = await manyServers((request) => answer(request));
});

afterAll(async () => await servers[Symbol.asyncDispose]());

beforeEach(() => {
  answer = answering;
});

afterEach(() => home?.remove());

const TWO = {
  work: { provider: 'anthropic', api_base: 'http://work.example', api_key: 'WORK-KEY-1234', model: 'claude-fable-5-2' },
  local: { api_base: 'http://local.example/v1', model: 'qwen3', headers: { 'X-Team': 'local-team' } },
};

function start(config: unknown): void {
  home = makeHome(config);
}

async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const before = servers.requests.length;
  const result = await runProgram(home, args, { env: { ...servers.env, ...env } });
  return { ...result, requests: servers.requests.slice(before) };
}

const questions = (requests: readonly ReachedRequest[]) => requests.filter(({ method }) => method === 'POST');
const asked = (requests: readonly ReachedRequest[]) =>
  questions(requests).map(({ host, body }) => `${host} ${String(body.model)}`);

describe('servers by name', () => {
  it('are asked by their name, with a model of theirs, and the first one without any', async () => {
    start({ servers: TWO });
    const work = await run(['ask', 'one']);
    expect(asked(work.requests)).toEqual(['work.example claude-fable-5-2']);
    expect(new Set(work.requests.map(({ host }) => host))).toEqual(new Set(['work.example']));
    const local = await run(['ask', '-m', 'local', 'two']);
    expect(local.stdout).toBe('from local.example\n');
    expect(asked(local.requests)).toEqual(['local.example qwen3']);
    expect(asked((await run(['ask', '-m', 'local/other:7b', 'three'])).requests)).toEqual(['local.example other:7b']);
    expect(asked((await run(['ask', 'four'], { HI_MODEL: 'local' })).requests)).toEqual(['local.example qwen3']);
  });

  it('stand beside the flat form, which is asked as before, and summaries may come from another', async () => {
    const flat = { provider: 'openai', api_base: 'http://flat.example/v1', api_key: 'FLAT-KEY', model: 'big' };
    start({ ...flat, servers: TWO, small_model: 'local/tiny', compaction: { strategy: 'summary' } });
    expect(asked((await run(['ask', 'one'])).requests)).toEqual(['flat.example big']);
    await run(['ask', 'two', '-m', 'work']);
    const compacted = await run(['compact', '--strategy', 'replace']);
    expect(asked(compacted.requests)).toEqual(['local.example tiny']);
    expect(questions(compacted.requests).map(({ headers }) => [headers.authorization, headers['x-team']])).toEqual([
      [undefined, 'local-team'],
    ]);
    const { stdout } = await run(['usage', '--by', 'server', '--json']);
    const counted: unknown = JSON.parse(stdout);
    expect(counted).toMatchObject([
      { server: 'flat.example', requests: 1 },
      { server: 'local', requests: 1 },
      { server: 'work', requests: 1 },
    ]);
  });

  it('answer by the model that the configuration names, and keep what belongs to one with it', async () => {
    start({ servers: TWO, model: 'local/other' });
    const { requests } = await run(['ask', 'one'], { HI_API_KEY: 'MY-OWN-KEY', OPENAI_API_KEY: 'OPENAI-KEY' });
    expect(asked(requests)).toEqual(['local.example other']);
    expect(JSON.stringify(requests)).not.toMatch(/MY-OWN-KEY|OPENAI-KEY|WORK-KEY/);
  });

  it('are an error with the place of the mistake if they do not say enough, or have a wrong name', async () => {
    start({ servers: { 'a/b': { api_base: 'http://a.example' } } });
    expect(await run(['ask', 'one'])).toMatchObject({ status: 3, stderr: expect.stringContaining("'a/b' is not") });
    home.writeConfig(JSON.stringify({ servers: { empty: { model: 'm', api_kee: 'k' } } }));
    expect((await run(['ask', 'one'])).stderr).toContain(
      "$.servers.empty.api_kee: unknown key 'api_kee'; did you mean",
    );
    home.writeConfig(JSON.stringify({ servers: { empty: { model: 'm' } } }));
    expect(await run(['ask', 'one'])).toMatchObject({
      status: 3,
      stderr: expect.stringContaining('Set servers.empty.provider or servers.empty.api_base.'),
    });
  });

  it('are listed by /model with window, price and whether they answer, and are all tested by check --live', async () => {
    answer = (request) => (request.host === 'local.example' ? null : answering(request));
    start({ servers: TWO, fallback: ['local', 'nobody'] });
    const chat = await runProgram(home, ['chat'], { input: '/model\n', env: servers.env });
    expect(chat.stdout).toMatch(/^\* work +anthropic\/claude-fable-5-2 · window 1M · price unknown · answers$/m);
    expect(chat.stdout).toMatch(/^ {2}local +openai\/qwen3 · window \d+k · price unknown · does not answer: /m);
    answer = answering;
    const { status, stdout, requests } = await run(['config', 'check', '--live']);
    expect(status).toBe(3);
    expect(stdout).toMatch(/^ok {5}fallback 'local': openai\/qwen3$/m);
    expect(stdout).toContain("fallback 'nobody': No server has the name 'nobody'.");
    expect(stdout).toMatch(/^ok {5}answer: "from work.example"$/m);
    expect(stdout).toMatch(/^ok {5}server 'local': "from local.example"$/m);
    expect(asked(requests)).toEqual(['work.example claude-fable-5-2', 'local.example qwen3']);
  });

  it('without a key that want one say where it belongs', async () => {
    answer = ({ method }) => (method === 'GET' ? LIST : refusal(401, { error: { message: 'No API key provided' } }));
    start({ servers: TWO });
    const { status, stderr } = await run(['ask', '-m', 'local', 'one']);
    expect([status, stderr]).toEqual([4, expect.stringContaining('wants an API key')]);
    expect(stderr).toContain(`Set servers.local.api_key in '${home.configFile}' to a valid key.`);
  });

  it('are shown with their keys masked', async () => {
    start({ servers: TWO });
    const { stdout } = await run(['config', 'show']);
    expect(JSON.parse(stdout).servers).toEqual({
      work: { ...TWO.work, api_key: '…1234' },
      local: { ...TWO.local, headers: { 'X-Team': '***' } },
    });
  });
});

describe('services that hi knows', () => {
  const keys = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, `${name}-is-secret`]));
  const AZURE = { AZURE_OPENAI_ENDPOINT: 'https://mine.openai.azure.com/', AZURE_OPENAI_DEPLOYMENT: 'my-gpt' };

  it.each(KNOWN_SERVERS.map((known) => [known.name, known] as const))(
    'need only their variable: %s',
    async (name, known) => {
      start(null);
      const env = { ...keys([known.keyVariable]), ...AZURE };
      const named = known.onlyIfNamed ? ['-m', name] : [];
      const { stdout, requests } = await run(['ask', ...named, 'hello'], env);
      const { host, pathname } = new URL(known.address(env) ?? '');
      expect(stdout).toBe(`from ${host}\n`);
      expect(asked(requests)).toEqual([`${host} ${known.model(env)}`]);
      expect(requests.every((one) => one.headers.authorization === `Bearer ${known.keyVariable}-is-secret`)).toBe(true);
      expect(requests.every(({ path }) => path.startsWith(pathname))).toBe(true);
    },
  );

  it('are not used for a variable that other programs use too, unless they are named', async () => {
    start(null);
    const { status, requests } = await run(['ask', 'hello'], { ...keys(['GITHUB_TOKEN']) });
    expect([status, requests]).toEqual([3, []]);
  });

  it('take the usual model from the configuration, and say which variable is missing', async () => {
    start({ servers: { groq: { model: 'qwen/qwen3-32b' } } });
    expect((await run(['ask', 'hello'])).stderr).toContain('Set GROQ_API_KEY, or servers.groq.api_key in config.json.');
    expect(asked((await run(['ask', 'hello'], keys(['GROQ_API_KEY']))).requests)).toEqual([
      'api.groq.com qwen/qwen3-32b',
    ]);
  });

  it('are named by the model of the configuration, beside the keys of others', async () => {
    start({ model: 'mistral/mistral-small-latest' });
    const { requests } = await run(['ask', 'hello'], keys(['OPENROUTER_API_KEY', 'MISTRAL_API_KEY', 'OPENAI_API_KEY']));
    expect(asked(requests)).toEqual(['api.mistral.ai mistral-small-latest']);
  });

  it('leave a name to the gateway that lists it as the maker of a model', async () => {
    answer = (request) =>
      request.method === 'GET' ? { chunks: ['{"data":[{"id":"mistral/large"}]}'] } : answering(request);
    start({ provider: 'openai', api_base: 'http://gateway.example/v1', model: 'm' });
    expect(asked((await run(['ask', '-m', 'mistral/large', 'hello'], keys(['MISTRAL_API_KEY']))).requests)).toEqual([
      'gateway.example mistral/large',
    ]);
  });
});

it('are in the manual, with their variables and the addresses of their documentation', () => {
  const page = readFileSync(new URL('../../docs/configure.md', import.meta.url), 'utf8');
  const rows = KNOWN_SERVERS.map(
    ({ name, title, keyVariable, docs }) => `| \`${name}\` | \`${keyVariable}\` | [${title}](${docs}) |`,
  );
  expect(rows.filter((row) => !page.replace(/ +\|/g, ' |').includes(row))).toEqual([]);
});
