import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { isJsonObject, type JsonObject, parseObject } from '../../lib/chat/json.js';
import { type AnswerOf, type ManyServers, manyServers } from '../support/many-servers.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { refusal, type VendorAnswer } from '../support/vendor-server.js';
import { type Dialect, dialects } from '../support/vendors.js';

const speak = (title: string): Dialect => {
  const found = dialects.find((one) => one.title === title);
  if (found === undefined) throw new Error(`Nobody speaks ${title}.`);
  return found;
};
const [chat, anthropic] = [speak('OpenAI Chat Completions'), speak('Anthropic')];

/** What each host says now; its own name if there is nothing here. */
let says: Readonly<Record<string, (body: JsonObject) => VendorAnswer | null>> = {};
const answering: AnswerOf = ({ host, method, path, body }) => {
  if (method === 'GET') return { chunks: ['{"data":[{"id":"m","context_length":64000}]}'] };
  const own = says[host];
  if (own !== undefined) return own(body);
  return (path.includes('/messages') ? anthropic : chat).text(`from ${host}`);
};

const soon = { 'retry-after-ms': '1' };
const overloaded = () =>
  refusal(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, soon);
const error = (status: number, message: string) => () => refusal(status, { error: { message } }, soon);

let servers: ManyServers;
let home: Home;
beforeAll(async () => {
  servers = await manyServers(answering);
});
afterAll(async () => await servers[Symbol.asyncDispose]());
afterEach(() => home.remove());

const SERVERS = {
  first: { provider: 'anthropic', api_base: 'http://first.example', api_key: 'KEY-FIRST-12345', model: 'one' },
  second: { api_base: 'http://second.example/v1', api_key: 'KEY-SECOND-1234', model: 'two' },
  third: { api_base: 'http://third.example/v1', model: 'three' },
};

function start(more: object = {}): void {
  home = makeHome({ servers: SERVERS, fallback: ['second', 'third'], ...more });
  says = {};
}

async function ask(...args: readonly string[]) {
  const before = servers.requests.length;
  const run = await runProgram(home, ['ask', ...args], { env: servers.env });
  const requests = servers.requests.slice(before).filter(({ method }) => method === 'POST');
  return { ...run, hosts: requests.map(({ host }) => host.split('.')[0]), requests };
}

const statesFile = () => join(home.folder, 'cache', 'servers.json');

/** As if the servers had failed so many minutes earlier. */
function wait(minutes: number): void {
  const failures = parseObject(readFileSync(statesFile(), 'utf8'))?.failures;
  const earlier = Object.entries(isJsonObject(failures) ? failures : {}).map(([name, failure]) => {
    const { at, until } = isJsonObject(failure) ? failure : {};
    return [name, { at: Number(at), until: Number(until) - minutes * 60_000 }];
  });
  writeFileSync(statesFile(), JSON.stringify({ failures: Object.fromEntries(earlier) }));
}

describe('when a server fails', () => {
  it('the next one answers after the usual attempts, and the first is asked again after a while, once', async () => {
    start();
    says = { 'first.example': overloaded };
    const turned = await ask('--json', 'one');
    expect(turned.hosts.slice(-1)).toEqual(['second']);
    expect(turned.hosts.filter((host) => host === 'first').length).toBeGreaterThanOrEqual(4);
    expect(JSON.parse(turned.stdout)).toMatchObject({
      text: 'from second.example',
      server: 'second',
      fallback_from: 'first',
      provider: 'openai',
      model: 'two',
    });
    expect(turned.stderr.match(/Going on with 'second'/g)).toHaveLength(1);
    const later = await ask('two');
    expect(later).toMatchObject({ stdout: 'from second.example\n', hosts: ['second'] });
    expect(later.stderr).toContain("'second' answers, because 'first' failed lately.");
    wait(6);
    expect(await ask('three')).toMatchObject({ hosts: ['first', 'second'], status: 0 });
    expect((await ask('four')).hosts).toEqual(['second']);
    wait(6);
    says = {};
    expect(await ask('five')).toMatchObject({ stdout: 'from first.example\n', hosts: ['first'] });
    expect(await ask('six')).toMatchObject({ stdout: 'from first.example\n', hosts: ['first'] });
    const { messages } = (await ask('--json', 'seven')).requests[0]?.body ?? {};
    expect(JSON.stringify(messages).match(/from (?:first|second)\.example/g)).toHaveLength(6);
  });

  it.each<[string, () => VendorAnswer | null]>([
    ['a spent quota', error(402, 'Insufficient credits')],
    ['an expired key', error(401, 'Incorrect API key provided')],
    [
      'a limit of requests that lasts',
      () => refusal(429, { error: { message: 'Slow down' } }, { 'retry-after': '900' }),
    ],
  ])('%s leads to the next one at once', async (_, answer) => {
    start();
    says = { 'first.example': answer, 'second.example': answer };
    expect(await ask('one')).toMatchObject({ stdout: 'from third.example\n', hosts: ['first', 'second', 'third'] });
  });

  it.each<[string, () => VendorAnswer]>([
    ['refused content', error(400, 'The content violates our usage policy: invalid_prompt')],
    ['an unknown model', error(404, "The model 'one' does not exist")],
    ['a part of the answer', () => ({ ...anthropic.text('Half', 'of it'), end: 'cut' })],
  ])('%s leads to no other', async (_, answer) => {
    start();
    says = { 'first.example': () => ({ ...answer(), chunks: answer().chunks?.slice(0, 4) ?? [] }) };
    const { status, hosts } = await ask('one');
    expect([status, new Set(hosts)]).toEqual([5, new Set(['first'])]);
  });

  it('what the first one failed with is the error once none is left, and nothing is lost', async () => {
    start({ fallback: ['second', 'nobody/at-all'] });
    says = { 'first.example': error(401, 'Expired'), 'second.example': error(402, 'Insufficient credits') };
    const { status, stderr } = await ask('one');
    expect(status).toBe(4);
    expect(stderr).toContain("'second' does not answer");
    says = {};
    writeFileSync(statesFile(), '{}');
    expect((await ask('two')).stdout).toBe('from first.example\n');
  });

  it('a server that is chosen is asked, even if it failed lately, and has the others behind it', async () => {
    start();
    says = { 'second.example': error(401, 'Expired') };
    expect(await ask('-m', 'second', 'one')).toMatchObject({ hosts: ['second', 'third'] });
    expect(await ask('-m', 'second', 'two')).toMatchObject({ hosts: ['second', 'third'] });
    expect(await ask('three')).toMatchObject({ hosts: ['first'] });
  });

  it('a script gets its schema from the next one too, or that is left out and named', async () => {
    start();
    says = {
      'first.example': error(401, 'Expired'),
      'second.example': error(401, 'Expired'),
      'third.example': () => chat.text('{"name": "Ada"}'),
    };
    const { stdout } = await ask('--schema', 'name', 'Who?');
    expect(JSON.parse(stdout)).toEqual({ name: 'Ada' });
    says = {
      ...says,
      'second.example': ({ response_format }) =>
        response_format === undefined ? chat.text('{"name": "Bob"}') : error(400, 'response_format is not supported')(),
    };
    expect(JSON.parse((await ask('-m', 'second', '--schema', 'name', 'Who?')).stdout)).toEqual({ name: 'Bob' });
    writeFileSync(statesFile(), '{}');
    const next = await ask('--schema', 'name', 'Who?');
    expect(next).toMatchObject({ status: 0, hosts: ['first', 'third'] });
    expect(JSON.parse(next.stdout)).toEqual({ name: 'Ada' });
    expect(next.stderr).toContain("'second' is left out: it takes no schema for the answer.");
  });

  it('a turn that has written goes on only where all of it is read as it was', async () => {
    start({ tools: { sandbox: false }, servers: { ...SERVERS, second: { ...SERVERS.second, context_window: 1024 } } });
    let calls = 0;
    const call = () => {
      calls += 1;
      const content = 'a long text '.repeat(400);
      return calls === 1
        ? anthropic.tools({ name: 'write_file', args: { path: 'made.txt', content } })
        : error(401, 'Expired')();
    };
    says = { 'first.example': call };
    const { status, stderr, hosts, requests } = await ask('-y', 'Write it.');
    expect([status, hosts]).toEqual([0, ['first', 'first', 'third']]);
    expect(stderr).toContain("'second' is left out: what this turn has done does not fit its window.");
    expect(JSON.stringify(requests.at(-1)?.body.messages)).toContain('"role":"tool"');
    expect(readFileSync(join(home.work, 'made.txt'), 'utf8')).toContain('a long text');
  });
});
