import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { chatDriver } from '../support/chat.js';
import { type ManyServers, manyServers } from '../support/many-servers.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { KEY } from '../support/terminal.js';
import { refusal, type VendorAnswer } from '../support/vendor-server.js';
import { dialects } from '../support/vendors.js';

const [chat] = dialects;

/** What each host still says before it answers. */
let says: Record<string, VendorAnswer[]> = {};
let servers: ManyServers;
let home: Home | null = null;
beforeAll(async () => {
  servers = await manyServers(({ host, method }) => {
    if (method === 'GET') return { chunks: ['{"data":[{"id":"m"}]}'] };
    return says[host]?.shift() ?? chat?.text(`from ${host}`) ?? null;
  });
});
afterAll(async () => await servers[Symbol.asyncDispose]());
afterEach(() => {
  home?.remove();
  home = null;
});

const SERVERS = {
  first: { api_base: 'http://first.example/v1', model: 'one' },
  second: { api_base: 'http://second.example/v1', model: 'two' },
};

const busy = (seconds: string) => refusal(429, { error: { message: 'Slow down' } }, { 'retry-after': seconds });

async function ask(config: object, ...args: readonly string[]) {
  home = makeHome({ servers: SERVERS, ...config });
  return await runProgram(home, ['ask', ...args], { env: servers.env });
}

describe('hi ask --wait', () => {
  it('waits as often as the server says when it answers, and takes a time', async () => {
    says = { 'first.example': Array.from({ length: 4 }, () => busy('0.01')) };
    expect(await ask({}, '--wait', 'hello')).toMatchObject({ status: 0, stdout: 'from first.example\n' });
    says = { 'first.example': [busy('600')] };
    expect((await ask({}, '--wait=5m', 'hello')).status).toBe(5);
    says = { 'first.example': [busy('600')] };
    expect((await ask({}, 'hello')).status).toBe(5);
  });

  it('waits for no server while another can answer', async () => {
    says = { 'first.example': [busy('600')] };
    const run = await ask({ fallback: ['second'] }, '--wait', 'hello');
    expect(run).toMatchObject({ status: 0, stdout: 'from second.example\n' });
  });
});

describe('hi chat', () => {
  const start = chatDriver();

  it('counts down to when the server answers, and asks the next server at once after Esc', async () => {
    says = { 'first.example': [busy('90')] };
    const driver = await start(() => ({ text: 'unused' }), {
      ...{ provider: undefined, model: undefined, api_base: undefined },
      ...{ servers: SERVERS, fallback: ['second'] },
    });
    await driver.open({ env: servers.env });
    driver.terminal.type(`hello${KEY.enter}`);
    await driver.until(/retry 1 in .*\(Esc: 'second' now\)/);
    driver.terminal.type(KEY.escape);
    await driver.until('from second.example');
  });
});
