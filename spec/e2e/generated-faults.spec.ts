import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { isJsonObject, parseObject } from '../../lib/chat/json.js';
import { type Amount, addAmounts, NOTHING } from '../../lib/servers/ledger.js';
import { type ManyServers, manyServers, type ReachedRequest } from '../support/many-servers.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import fc from '../support/properties.js';
import { refusal, type VendorAnswer } from '../support/vendor-server.js';
import { type Dialect, dialects } from '../support/vendors.js';

/** How many turns are tried, in chains of so many each, so many of them at once. */
const TURNS = Number(process.env.HI_FAULTS ?? 4);
const IS_LARGE = process.env.HI_FAULTS !== undefined;
const A_CHAIN = 4;
const AT_ONCE = IS_LARGE ? Number(process.env.HI_FAULTS_AT_ONCE ?? 8) : 2;

const soon = { 'retry-after-ms': '1' };
const said = (status: number, message: string, headers = {}) => refusal(status, { error: { message } }, headers);

/** What a server does instead of answering: the failure, and whether another server is asked then. */
const FAULTS: Readonly<Record<string, (dialect: Dialect) => VendorAnswer | null>> = {
  'rate, with time': () => said(429, 'Rate limit reached', soon),
  'rate, for long': () => said(429, 'Rate limit reached', { 'retry-after': '7200' }),
  overloaded: () => said(529, 'Overloaded', soon),
  broken: () => said(500, 'Internal server error', soon),
  'key expired': () => said(401, 'Incorrect API key provided'),
  'quota spent': () => said(402, 'Insufficient credits'),
  'content refused': () => said(400, 'The prompt was flagged: invalid_prompt'),
};

/** Faults after which hi waits seven seconds before it gives the server up; in the large run only. */
const SLOW: typeof FAULTS = {
  'rate, without time': () => said(429, 'Rate limit reached'),
  'connection closed': () => null,
  'stream cut': (dialect) => ({ ...dialect.text('Half', 'an answer'), chunks: [], end: 'cut' }),
};

/**
 * Models with a published price, and what the answers of the fakes cost, in millionths of a dollar: 5 tokens in, 2 of
 * the cache, 3 out, and at Anthropic 1 into the cache.
 */
const PRICED: Readonly<Record<string, readonly [model: string, cost: number]>> = {
  openai: ['gpt-4o', 5 * 2.5 + 2 * 1.25 + 3 * 10],
  anthropic: ['claude-sonnet-4-5', 4 * 3 + 2 * 0.3 + 1 * 3.75 + 3 * 15],
  gemini: ['gemini-2.5-pro', 5 * 1.25 + 2 * 0.125 + 3 * 10],
};

/** Addresses at which nobody answers. */
const NOWHERE = ['https://certificate.example/v1', 'http://name.invalid/v1', 'http://127.0.0.1:9/v1'];

const ALL = { ...FAULTS, ...SLOW };
const ENDS: readonly string[] = ['content refused'];

interface Server {
  readonly name: string;
  readonly dialect: Dialect;
  /** Null for one that answers. */
  readonly nowhere: string | null;
  /** Whether it is the vendor's own, whose prices are known; else it has a host of its own, and tokens are counted. */
  readonly isVendor: boolean;
  /** Its fault in each turn; null for an answer. */
  readonly faults: readonly (string | null)[];
}

const rarely = <Value>(rare: fc.Arbitrary<Value>, usual: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 1, arbitrary: rare }, { weight: 6, arbitrary: usual });

const QUICK = fc.oneof(fc.constantFrom(...Object.keys(FAULTS)), fc.constant(null));
const FAULT = IS_LARGE ? rarely<string | null>(fc.constantFrom(...Object.keys(SLOW)), QUICK) : QUICK;

const CHAIN = fc
  .array(
    fc.record({
      dialect: fc.constantFrom(...dialects),
      nowhere: IS_LARGE ? rarely<string | null>(fc.constantFrom(...NOWHERE), fc.constant(null)) : fc.constant(null),
      isVendor: fc.boolean(),
      faults: fc.array(FAULT, { minLength: A_CHAIN, maxLength: A_CHAIN }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((servers) => {
    // Vendors are asked with TLS, and every certificate of the fake is wrong.
    const isTrusted = servers.every(({ nowhere }) => !nowhere?.startsWith('https:'));
    return servers.map(({ isVendor, ...server }, at): Server => {
      const hasPrice =
        isVendor && isTrusted && server.nowhere === null && PRICED[server.dialect.provider] !== undefined;
      return { ...server, isVendor: hasPrice, name: `s${at}` };
    });
  });

/** When a server failed last. */
interface FailedRequest {
  readonly name: string;
  readonly at: number;
}

let servers: ManyServers;
/** Each chain by its number, with the turn that is asked now. */
const running = new Map<
  string,
  { readonly chain: readonly Server[]; turn: number; served: Amount; failed: FailedRequest[] }
>();
/** How long after a failure the next server was asked, in milliseconds, where none in between was tried in vain. */
const switches: number[] = [];

function answerTo({ host, method, path, headers }: ReachedRequest): VendorAnswer | null {
  // A vendor's own host is that of many chains, but each has a key of its own.
  const [, name = '', number = ''] = /\b(s\d|view)[.-](c\d+)/.exec(`${host} ${JSON.stringify(headers)}`) ?? [];
  if (name === 'view' && method === 'POST') return dialects[0]?.text('seen') ?? null;
  const now = running.get(number);
  const server = now?.chain.find((one) => one.name === name);
  if (now === undefined || server === undefined) return null;
  if (method === 'GET' || path.endsWith('/api/show')) return { status: 404, chunks: ['{}'] };
  const fault = server.faults[now.turn] ?? null;
  const before = now.failed.pop();
  const placeOf = (one: string) => now.chain.findIndex((other) => other.name === one);
  if (before !== undefined && placeOf(name) === placeOf(before.name) + 1) switches.push(performance.now() - before.at);
  if (fault !== null) {
    now.failed = [{ name, at: performance.now() }];
    return ALL[fault]?.(server.dialect) ?? null;
  }
  const [, cost = 0] = server.isVendor ? (PRICED[server.dialect.provider] ?? []) : [];
  now.served = addAmounts(now.served, cost > 0 ? { dollars: cost / 1e6, tokens: 0 } : { dollars: 0, tokens: 10 });
  return server.dialect.text(`from ${name} in turn ${now.turn}`);
}

beforeAll(async () => {
  servers = await manyServers(answerTo);
});
afterAll(async () => await servers[Symbol.asyncDispose]());

function entryOf({ name, dialect, nowhere, isVendor }: Server, number: string) {
  if (nowhere !== null) return { api_base: nowhere, model: 'm' };
  const { provider, settings, path } = dialect;
  const api = provider === 'openai' ? { openai: settings.options } : {};
  const own = { provider, ...api, api_key: `KEY-${name}-${number}` };
  if (isVendor) return { ...own, model: PRICED[provider]?.[0] };
  return { ...own, api_base: `http://${name}.${number}.example${path}`, model: 'm' };
}

/** What a turn leads to: the server that answers, or null. */
function expected(chain: readonly Server[], turn: number): string | null {
  for (const { name, nowhere, faults } of chain) {
    const fault = nowhere ?? faults[turn] ?? null;
    if (fault === null) return name;
    if (ENDS.includes(fault)) return null;
  }
  return null;
}

/** Asks every turn of a chain, as if each came long after the last. */
async function runChain(chain: readonly Server[], number: string, home: Home): Promise<void> {
  const now = { chain, turn: 0, served: NOTHING, failed: [] as FailedRequest[] };
  running.set(number, now);
  const isUntrusted = chain.some(({ nowhere }) => nowhere?.startsWith('https:'));
  const env = { ...servers.env, NO_PROXY: '127.0.0.1,invalid', NODE_TLS_REJECT_UNAUTHORIZED: isUntrusted ? '1' : '0' };
  const answered: string[] = [];
  for (; now.turn < A_CHAIN; now.turn += 1) {
    rmSync(join(home.folder, 'cache', 'servers.json'), { force: true });
    now.failed = [];
    const by = expected(chain, now.turn);
    const run = await runProgram(home, ['ask', '--no-tools', `question ${now.turn}.`], { env });
    const answer = `from ${by} in turn ${now.turn}`;
    expect([run.stdout, run.status === 0]).toEqual(by === null ? ['', false] : [`${answer}\n`, true]);
    if (by !== null) answered.push(`question ${now.turn}.`, answer);
  }
  await check(home, env, answered, number, now);
}

/**
 * None is lost, none was answered twice, the next question sees what was answered and nothing else, and the ledger has
 * what was served.
 */
async function check(
  home: Home,
  env: Readonly<Record<string, string>>,
  answered: readonly string[],
  number: string,
  { chain, served }: { readonly chain: readonly Server[]; readonly served: Amount },
): Promise<void> {
  const { stdout } = await runProgram(home, ['history', '--json'], { env });
  const archive: unknown = JSON.parse(stdout);
  const asked = (Array.isArray(archive) ? archive : []).filter(isJsonObject).filter(({ role }) => role === 'user');
  const texts = asked.map(({ content }) => JSON.stringify(content));
  for (let turn = 0; turn < A_CHAIN; turn += 1)
    expect(texts.filter((text) => text.includes(`question ${turn}.`))).toHaveLength(1);
  const isCut = chain.some(
    ({ nowhere, faults }) => nowhere === null && faults.some((fault) => fault !== null && fault in SLOW),
  );
  const { dollars, tokens } = counted(home);
  if (isCut) expect([dollars >= served.dollars - 1e-12, tokens >= served.tokens]).toEqual([true, true]);
  else expect([dollars.toFixed(12), tokens]).toEqual([served.dollars.toFixed(12), served.tokens]);
  expect(await inView(home, env, number)).toEqual(answered);
}

/** The words of the conversation in the next request, which an own server gets. */
async function inView(home: Home, env: Readonly<Record<string, string>>, number: string): Promise<readonly string[]> {
  const before = servers.requests.length;
  const own = parseObject(readFileSync(home.configFile, 'utf8')) ?? {};
  const last = { api_base: `http://view.${number}.example/v1`, model: 'm' };
  home.writeConfig(JSON.stringify({ ...own, servers: { view: last }, fallback: [] }));
  await runProgram(home, ['ask', '--no-tools', '-n', 'What was said?'], { env, input: '' });
  const sent = servers.requests
    .slice(before)
    .find(({ host, method }) => host === `view.${number}.example` && method === 'POST');
  return JSON.stringify(sent?.body ?? {}).match(/question \d\.|from s\d in turn \d/g) ?? [];
}

/** What the ledger has: the last line of each request. */
function counted(home: Home): Amount {
  const folder = join(home.data, 'ledger');
  if (!existsSync(folder)) return NOTHING;
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'));
  const costs = new Map(
    lines.map(parseObject).map((line) => [line?.id, { dollars: Number(line?.dollars), tokens: Number(line?.tokens) }]),
  );
  return [...costs.values()].reduce(addAmounts, NOTHING);
}

it(
  `every question of ${TURNS} with generated faults is answered by the first server that can, or kept; none twice, none lost`,
  async () => {
    const chains = fc.sample(CHAIN, Math.ceil(TURNS / A_CHAIN));
    const left = chains.map((chain, at) => [chain, `c${at}`] as const);
    const work = async (): Promise<void> => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) {
        const [chain, number] = next;
        const home = makeHome({
          servers: Object.fromEntries(chain.map((server) => [server.name, entryOf(server, number)])),
          fallback: chain.slice(1).map(({ name }) => name),
          limit: { month: 1e6, month_tokens: 1e9 },
          recall: { auto: false },
          clock: false,
        });
        try {
          await runChain(chain, number, home);
        } catch (thrown) {
          throw new Error(`${JSON.stringify(chain.map(({ dialect, ...one }) => [dialect.title, one]))}`, {
            cause: thrown,
          });
        } finally {
          home.remove();
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (IS_LARGE) {
      const sorted = switches.toSorted((one, other) => one - other);
      process.stdout.write(
        `${sorted.length} switches, p50 ${sorted[sorted.length >> 1]}, p95 ${sorted[Math.floor(sorted.length * 0.95)]} ms\n`,
      );
    }
  },
  TURNS * 10_000,
);
