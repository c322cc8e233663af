import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import type { Usage } from '../../lib/chat/message.js';
import { HistoryStore } from '../../lib/history/store.js';
import { answers, says } from '../support/history.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';

type Billing = NonNullable<Usage['billing']>;

let server: ScriptedServer;
let home: Home;

beforeEach(async () => {
  server = await startScriptedServer(() => ({ text: 'ok', usage: [1000, 10] }));
  home = makeHome({ provider: 'openai', model: 'gpt-scripted', api_base: server.base });
});
afterEach(async () => {
  await server.close();
  home.remove();
});

/** A turn that a model with a published price answered: 100k tokens in for $3 a million, 10k out for $15. */
async function talkedBefore(provider = 'anthropic', model = 'claude-sonnet-4-5', billing: Billing = {}): Promise<void> {
  const store = await HistoryStore.open({ folder: home.data, now: () => new Date() });
  const { turn } = await store.begin(says('Before.'));
  const usage = { input_tokens: 100_000, output_tokens: 10_000, cached_tokens: 0, context_tokens: 110_000, billing };
  await store.append(turn, [{ ...answers('Yes.'), provider, model, usage }]);
  await store.close();
}

it('reports the cost of a turn, which is unknown if the price is', async () => {
  const run = await runProgram(home, ['ask', '-u', 'x']);
  expect(run.stderr).toBe('openai/gpt-scripted · 1k tokens in · 10 out · 1k in context · cost unknown\n');
  expect(JSON.parse((await runProgram(home, ['ask', '--json', 'x'])).stdout)).toMatchObject({ cost: null });
});

it('reports no cost of a model on a server of the user', async () => {
  home.writeConfig(JSON.stringify({ provider: 'openai', model: 'qwen', api_base: server.base }));
  const run = await runProgram(home, ['ask', '-u', 'x']);
  expect(run.stderr).toBe('openai/qwen · 1k tokens in · 10 out · 1k in context\n');
  expect(JSON.parse((await runProgram(home, ['ask', '--json', 'x'])).stdout)).toMatchObject({ cost: 0 });
  const status = (await runProgram(home, ['status'])).stdout;
  expect(status).toContain('\ncost         nothing: it ran on a server of your own\n');
  expect(status).toMatch(/without the answer: costs nothing\n$/);
  expect((await runProgram(home, ['usage'])).stdout).toMatch(/\$0$/m);
});

it('reports the cost of the conversation', async () => {
  await talkedBefore();
  expect((await runProgram(home, ['status'])).stdout).toContain('\ncost         about $0.45\n');
  expect(JSON.parse((await runProgram(home, ['status', '--json'])).stdout)).toMatchObject({ cost: 0.45 });
  const chat = await runProgram(home, ['chat'], { input: 'x\n/cost\n' });
  expect(chat.stdout).toContain('cost         unknown: no published price for gpt-scripted\n');
  expect(chat.stdout).toContain('conversation at least $0.45: no published price for gpt-scripted\n');
});

it('assumes no price for answers of a gateway, whichever provider is configured later', async () => {
  const configure = (config: JsonObject) => home.writeConfig(JSON.stringify(config));
  const gateway = `${server.base.replace('http://', 'http://user:word@')}?key=k`;
  configure({ provider: 'openai', model: 'gpt-4o', api_base: gateway });
  await runProgram(home, ['ask', 'x']);
  configure({ provider: 'anthropic', model: 'claude-sonnet-4-5', api_key: 'k' });
  expect((await runProgram(home, ['status'])).stdout).toMatch(/^cost +unknown: no published price for gpt-4o$/m);
  expect((await runProgram(home, ['usage', '--by', 'model'])).stdout).toMatch(/^openai\/gpt-4o .* unknown/m);
  configure({ provider: 'openai', model: 'gpt-4o', api_key: 'k' });
  expect((await runProgram(home, ['status'])).stdout).toMatch(/^cost +unknown: no published price for gpt-4o$/m);
  expect((await runProgram(home, ['history', '--json'])).stdout).toContain(`"api_base":"${server.base}"`);
});

it('reports no cost for a conversation without usage', async () => {
  expect((await runProgram(home, ['status'])).stdout).not.toContain('cost');
  expect(JSON.parse((await runProgram(home, ['status', '--json'])).stdout)).not.toHaveProperty('cost');
});

describe('hi usage', () => {
  it('sums tokens and cost by day, month and model', async () => {
    await talkedBefore();
    await runProgram(home, ['ask', 'x']);
    const byModel = JSON.parse((await runProgram(home, ['usage', '--by', 'model', '--json'])).stdout);
    expect(byModel).toEqual([
      {
        model: 'anthropic/claude-sonnet-4-5',
        requests: 1,
        input_tokens: 100_000,
        cached_tokens: 0,
        output_tokens: 10_000,
        cost: 0.45,
      },
      {
        model: 'openai/gpt-scripted',
        requests: 1,
        input_tokens: 1000,
        cached_tokens: 0,
        output_tokens: 10,
        cost: null,
      },
    ]);
    const byDay = JSON.parse((await runProgram(home, ['usage', '--json'])).stdout);
    expect(byDay).toEqual([
      {
        day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        requests: 2,
        input_tokens: 101_000,
        cached_tokens: 0,
        output_tokens: 10_010,
        cost: null,
      },
    ]);
    const { stdout } = await runProgram(home, ['usage', '--by', 'month']);
    expect(stdout).toMatch(
      /^\d{4}-\d\d +2 answers +101k in +0 cached +10k out +\$0\.45 +█+\ntotal +2 answers .*\$0\.45\n/,
    );
    expect(stdout).toContain('no published price for gpt-scripted');
  });

  it('is an upper bound where the vendor may have given searches away', async () => {
    await talkedBefore('gemini', 'gemini-2.5-pro', { web_searches: 3 });
    expect((await runProgram(home, ['usage'])).stdout).toMatch(/^cost: at most \$0\.\d+, without the searches/m);
  });

  it('leaves out usage outside the requested time', async () => {
    await talkedBefore();
    expect((await runProgram(home, ['usage', '--until', '2020'])).stdout).toBe('No tokens were used.\n');
    expect(JSON.parse((await runProgram(home, ['usage', '--since', 'today', '--json'])).stdout)).toHaveLength(1);
    const wrong = await runProgram(home, ['usage', '--since', 'someday']);
    expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining("Cannot read the time 'someday'")]);
  });

  it('says that nothing was used in an empty conversation', async () => {
    const { status, stdout } = await runProgram(home, ['usage']);
    expect([status, stdout]).toEqual([0, 'No tokens were used.\n']);
    expect((await runProgram(home, ['usage', '--json'])).stdout).toBe('[]\n');
  });

  it('counts a book in place of the conversation, by time and model, as far as its source records tokens', async () => {
    await talkedBefore();
    const usage = { input_tokens: 100, output_tokens: 10, cache_read_input_tokens: 900 };
    const message = (id: string, model: string) => ({
      id,
      role: 'assistant',
      model,
      usage,
      content: [{ type: 'text', text: id }],
    });
    const line = { type: 'assistant', sessionId: 's', cwd: '/' };
    const lines = [
      { ...line, uuid: 'a', timestamp: '2025-03-01T10:00:00Z', message: message('1', 'claude-opus-4') },
      { ...line, uuid: 'b', timestamp: '2025-03-01T10:00:01Z', message: message('1', 'claude-opus-4') },
      { ...line, uuid: 'c', timestamp: '2025-04-02T10:00:00Z', message: message('2', 'claude-haiku') },
      { ...line, uuid: 'd', message: message('3', 'claude-haiku') },
    ];
    home.write('s.jsonl', lines.map((one) => JSON.stringify(one)).join('\n'));
    await runProgram(home, ['import', 's.jsonl']);
    const usageOf = async (...args: readonly string[]) =>
      JSON.parse((await runProgram(home, ['usage', '--in', 'claude-code', '--json', ...args])).stdout);
    const one = { requests: 1, input_tokens: 1000, cached_tokens: 900, output_tokens: 10, cost: null };
    expect(await usageOf('--by', 'month')).toEqual([
      { month: '2025-03', ...one },
      { month: '2025-04', ...one },
      { month: 'no time', ...one },
    ]);
    expect(await usageOf('--by', 'month', '--since', '2025-04')).toEqual([{ month: '2025-04', ...one }]);
    expect(await usageOf('--by', 'model')).toMatchObject([
      { model: 'claude-code/claude-haiku', requests: 2 },
      { model: 'claude-code/claude-opus-4', requests: 1 },
    ]);
    expect(await runProgram(home, ['usage', '--in', 'claude'])).toMatchObject({ status: 2 });
    expect((await runProgram(home, ['usage', '--in', 'claude-code', '--since', '2026'])).stdout).toBe(
      'No tokens were used.\n',
    );
    expect((await runProgram(home, ['usage'])).stdout).not.toContain('2025');
  });
});
