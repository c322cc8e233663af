import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { HistoryStore } from '../../lib/history/store.js';
import { answers, says } from '../support/history.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';

let server: ScriptedServer;
let home: Home;

beforeEach(async () => {
  server = await startScriptedServer(() => ({ text: 'ok', usage: [1000, 10] }));
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
});
afterEach(async () => {
  await server.close();
  home.remove();
});

/** A turn that a model with a published price answered: 100k tokens in for $3 a million, 10k out for $15. */
async function talkedBefore(): Promise<void> {
  const store = await HistoryStore.open({ folder: home.data, now: () => new Date() });
  const { turn } = await store.begin(says('Before.'));
  const usage = { input_tokens: 100_000, output_tokens: 10_000, cached_tokens: 0, context_tokens: 110_000 };
  await store.append(turn, [{ ...answers('Yes.'), provider: 'anthropic', model: 'claude-sonnet-4-5', usage }]);
  await store.close();
}

it('tells the cost of a turn, which is unknown where the price is', async () => {
  const run = await runProgram(home, ['ask', '-u', 'x']);
  expect(run.stderr).toBe('openai/scripted · 1k tokens in · 10 out · 1k in context · cost unknown\n');
  expect(JSON.parse((await runProgram(home, ['ask', '--json', 'x'])).stdout)).toMatchObject({ cost: null });
});

it('tells the cost of the conversation', async () => {
  await talkedBefore();
  expect((await runProgram(home, ['status'])).stdout).toContain('\ncost         about $0.45\n');
  expect(JSON.parse((await runProgram(home, ['status', '--json'])).stdout)).toMatchObject({ cost: 0.45 });
  const chat = await runProgram(home, ['chat'], { input: 'x\n/cost\n' });
  expect(chat.stdout).toContain('cost         unknown: no published price for scripted\n');
  expect(chat.stdout).toContain('conversation about $0.45, not counting scripted (no published price)\n');
});

it('says nothing of the cost of a conversation in which nothing was used', async () => {
  expect((await runProgram(home, ['status'])).stdout).not.toContain('cost');
  expect(JSON.parse((await runProgram(home, ['status', '--json'])).stdout)).not.toHaveProperty('cost');
});
