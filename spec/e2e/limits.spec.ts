import { appendFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { parseObject } from '../../lib/chat/json.js';
import { type ManyServers, manyServers } from '../support/many-servers.js';
import { type Home, makeHome, PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import { fill, itWithSmallDisk, smallDisk, unmountAll } from '../support/small-disk.js';
import { KEY, openTerminal } from '../support/terminal.js';
import { namedSse } from '../support/vendor-server.js';

/** How many processes ask at once. */
const PROCESSES = Number(process.env.HI_PROCESSES ?? 6);

/** The tokens of each answer. GPT-6.1 Sol costs $2 for a million in, $10 for a million out. */
let used = { input_tokens: 1000, output_tokens: 1500 };
const dollars = () => (used.input_tokens * 2 + used.output_tokens * 10) / 1_000_000;

let servers: ManyServers;
let home: Home;
beforeAll(async () => {
  servers = await manyServers(({ method }) => {
    if (method === 'GET') return { chunks: ['{"data":[]}'] };
    return namedSse(
      { type: 'response.created', response: { id: 'r', model: 'gpt-6.1-sol' } },
      { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm', role: 'assistant' } },
      { type: 'response.output_text.delta', item_id: 'm', output_index: 0, content_index: 0, delta: 'yes' },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'yes' }] },
      },
      { type: 'response.completed', response: { id: 'r', status: 'completed', model: 'gpt-6.1-sol', usage: used } },
    );
  });
});
afterAll(async () => await servers[Symbol.asyncDispose]());
afterEach(() => home.remove());

function start(limit: object, more: object = {}): void {
  used = { input_tokens: 1000, output_tokens: 1500 };
  home = makeHome({
    provider: 'openai',
    model: 'gpt-6.1-sol',
    api_key: 'KEY',
    recall: { auto: false },
    limit,
    ...more,
  });
}

async function ask(...args: readonly string[]) {
  const before = servers.requests.length;
  const run = await runProgram(home, ['ask', ...args], { env: servers.env });
  const sent = servers.requests.slice(before).filter(({ method }) => method === 'POST').length;
  return { ...run, sent };
}

const ledger = () => join(home.data, 'ledger');
const ledgerFile = () => join(ledger(), readdirSync(ledger())[0] ?? '');

/** What the ledger says was spent: the last line of each request. */
function counted(): number {
  const lines = readFileSync(ledgerFile(), 'utf8').trimEnd().split('\n').map(parseObject);
  const costs = new Map(lines.map((line) => [line?.id, Number(line?.dollars)]));
  return [...costs.values()].reduce((sum, cost) => sum + cost, 0);
}

describe('a limit', () => {
  it('warns at 80 %, then sends nothing without a terminal and exits 8, and counts what was spent', async () => {
    start({ day: 0.12 });
    used = { input_tokens: 5000, output_tokens: 5000 };
    expect(await ask('one')).toMatchObject({ status: 0, sent: 1, stderr: '' });
    expect((await ask('two')).stderr).toContain('$0.0600 of limit.day ($0.12) are spent.');
    expect(counted()).toBeCloseTo(2 * dollars());
    const refused = await ask('--json', 'three');
    expect(refused).toMatchObject({ status: 8, sent: 0 });
    expect(JSON.parse(refused.stdout).error).toMatchObject({
      code: 'limit',
      hint: expect.stringContaining('limit.day'),
    });
    expect((await runProgram(home, ['usage'], { env: servers.env })).stdout).toContain('limit.day: $0.12 of $0.12');
    expect(counted()).toBeCloseTo(2 * dollars());
  });

  it('is asked about on a terminal: no leaves the question in the prompt, yes goes on for this chat', async () => {
    start({ day: 0.05 });
    used = { input_tokens: 5000, output_tokens: 5000 };
    await ask('one');
    const terminal = openTerminal(RUNTIME, [PROGRAM, 'chat'], {
      env: { ...home.env, ...servers.env },
      cwd: home.work,
      columns: 100,
      rows: 30,
    });
    try {
      await terminal.until(/^hi> *$/m, 20_000);
      const before = servers.requests.length;
      terminal.type(`two${KEY.enter}`);
      await terminal.until(/\$0\.0600 of limit\.day \(\$0\.0500\) are spent, and the next request may cost[\s\S]*❯ no/);
      terminal.type('n');
      await terminal.until(/Not sent:[\s\S]*hi> two *$/);
      expect(servers.requests).toHaveLength(before);
      terminal.type(KEY.enter);
      await terminal.until(/Go on\?\n +yes\n❯ no/);
      terminal.type('y');
      await terminal.until(/yes\n[\s\S]*hi> *$/);
      expect(counted()).toBeCloseTo(2 * dollars());
    } finally {
      await terminal.close();
    }
  });

  it('of a turn counts its requests, and a new turn begins at nothing', async () => {
    start({ turn: 0.02 });
    expect(await ask('one')).toMatchObject({ status: 8, sent: 0 });
    start({ turn: 0.05 });
    expect([(await ask('one')).status, (await ask('two')).status]).toEqual([0, 0]);
  });

  it('in tokens holds for a model whose price is unknown, and without one such a model is not asked', async () => {
    start({ day: 1 }, { model: 'nobodys-model' });
    expect(await ask('one')).toMatchObject({ status: 8, sent: 0, stderr: expect.stringContaining('limit.day_tokens') });
    home.writeConfig(
      JSON.stringify({
        provider: 'openai',
        model: 'nobodys-model',
        api_key: 'KEY',
        limit: { day: 1, day_tokens: 9000 },
      }),
    );
    expect([(await ask('one')).status, (await ask('two')).status, (await ask('three')).status]).toEqual([0, 0, 8]);
  });

  it(`is kept by ${PROCESSES} processes at once`, async () => {
    const most = PROCESSES * 0.012;
    start({ day: most });
    const runs = await Promise.all(Array.from({ length: PROCESSES }, (_, at) => ask(`question ${at}`)));
    const answered = runs.filter(({ status }) => status === 0).length;
    expect(answered).toBeGreaterThan(0);
    expect(answered).toBeLessThan(PROCESSES);
    expect(runs.every(({ status }) => status === 0 || status === 8)).toBe(true);
    expect(answered * dollars()).toBeLessThanOrEqual(most);
    expect(counted()).toBeCloseTo(answered * dollars());
  }, 60_000);

  it('is passed by one request of each process at most, however long the answers are', async () => {
    start({ day: 0.2 });
    used = { input_tokens: 1000, output_tokens: 15_000 };
    const two = Math.min(PROCESSES, 3);
    const runs = Array.from({ length: two }, () =>
      runProgram(home, ['chat'], { input: 'one\ntwo\nthree\n', env: servers.env }),
    );
    await Promise.all(runs);
    expect(counted()).toBeGreaterThan(0.15);
    expect(counted()).toBeLessThanOrEqual(0.2 + two * dollars());
    expect(await ask('more')).toMatchObject({ status: 8, sent: 0 });
  }, 60_000);

  it('stops everything while its ledger is damaged, from the future, or cannot be read, and says so', async () => {
    start({ day: 1 });
    await ask('one');
    const file = ledgerFile();
    const good = readFileSync(file, 'utf8');
    const later = Date.now() + 3_600_000;
    for (const [text, words] of [
      [`${good.slice(0, 40)}\n`, 'damaged line'],
      [`${good}{"id":"x","at":1,"dollars":-5,"tokens":0}\n`, 'damaged line'],
      [good.slice(0, -10), 'damaged line'],
      [`${good}{"id":"x","at":${later},"dollars":0,"tokens":0}\n`, 'from the future'],
    ] as const) {
      writeFileSync(file, text);
      expect(await ask('two')).toMatchObject({ status: 8, sent: 0, stderr: expect.stringContaining(words) });
    }
    writeFileSync(file, good);
    appendFileSync(join(ledger(), '2999-01.jsonl'), '');
    expect(await ask('two')).toMatchObject({ status: 8, sent: 0, stderr: expect.stringContaining('from the future') });
  });

  itWithSmallDisk('stops everything on a full disk, and says so', async () => {
    start({ day: 1 });
    const disk = smallDisk(64);
    mkdirSync(home.data);
    symlinkSync(disk, ledger());
    expect((await ask('one')).status).toBe(0);
    appendFileSync(ledgerFile(), ' '.repeat(4096 - (readFileSync(ledgerFile()).length % 4096)).replace(/ $/, '\n'));
    fill(disk, 0);
    expect(await ask('two')).toMatchObject({ status: 8, sent: 0, stderr: expect.stringContaining('ledger') });
    unmountAll();
  });

  it('leaves no trace of itself where there is none', async () => {
    start({});
    await ask('one');
    expect(readdirSync(home.data)).not.toContain('ledger');
  });
});
