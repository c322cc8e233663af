import { expect, it } from '@jest/globals';
import { type ChatEvent, type RequestUsage, type StreamEvent, usageEvent } from '../../lib/chat/event.js';
import type { Usage } from '../../lib/chat/message.js';
import { withUsage } from '../../lib/cli/wiring/masked-provider.js';
import { withCost } from '../../lib/cli/wiring/price.js';
import type { Provider } from '../../lib/providers/common/provider.js';
import { chatRequest } from '../support/providers.js';
import { drain } from '../support/session.js';

const USAGE = { input_tokens: 100_000, output_tokens: 10_000, cached_tokens: 0, context_tokens: 110_000 };
const END: ChatEvent = {
  type: 'turn-end',
  text: 'x',
  provider: 'p',
  model: 'm',
  stop_reason: 'end',
  usage: USAGE,
  tool_calls: [],
  images: [],
  sources: [],
  compaction: null,
  turn: 1,
};

function record(model: string, api_base?: string): RequestUsage {
  return { provider: 'anthropic', model, api_base, usage: USAGE };
}

/** The costs that the ends of turns tell, where each turn makes these requests. */
async function costsOf(...turns: readonly (readonly RequestUsage[])[]): Promise<readonly unknown[]> {
  async function* events(): AsyncGenerator<ChatEvent> {
    for (const requests of turns) {
      for (const one of requests) yield usageEvent('answer', one, one.usage);
      yield { type: 'text', text: 'x' };
      yield END;
    }
  }
  const told = await drain(withCost(events(), () => new Date('2026-11-24')));
  return told.flatMap((event) => (event.type === 'turn-end' ? [event.cost] : []));
}

it('sums each turn separately, with all of its requests', async () => {
  // $3 a million tokens in, $15 out.
  const one = record('claude-sonnet-4-5');
  expect(await costsOf([one], [one, one])).toEqual([0.45, 0.9]);
});

it.each([
  ['of a model without a published price', [record('claude-sonnet-4-5'), record('no-such-model')]],
  ['at an address without published prices', [record('claude-sonnet-4-5', 'http://127.0.0.1:1/v1')]],
  ['whose tokens nobody told', []],
])('is unknown for a turn with a request %s', async (_what, records) => {
  expect(await costsOf(records)).toEqual([null]);
});

/** The cost of one request of a million tokens in and a hundred thousand out, of which the bill says so much. */
async function costOfBill(provider: string, model: string, usage: object): Promise<unknown> {
  const counts = { input_tokens: 50_000, output_tokens: 10_000, cached_tokens: 0, context_tokens: 60_000, ...usage };
  const [cost] = await costsOf([{ provider, model, usage: counts }]);
  return cost;
}

it.each([
  ['the model that answered', 'gemini', 'gemini-flash-latest', { billing: { model: 'gemini-3.8-flash' } }, 0.075],
  ['what a gateway reports', 'openai', 'm', { billing: { cost: 0.0321 } }, 0.0321],
  ['a model that the table lacks', 'openai', 'gpt-6.1-sol', {}, 0.2],
  ['one of a family', 'anthropic', 'claude-sonnet-5-5', { cached_tokens: 40_000 }, 0.124],
  [
    'what was written to the cache',
    'anthropic',
    'claude-sonnet-5-5',
    { billing: { cache_write_tokens: 40_000 } },
    0.22,
  ],
  [
    'what was written for an hour',
    'anthropic',
    'claude-sonnet-5-5',
    { billing: { cache_write_tokens: 40_000, cache_write_1h_tokens: 40_000 } },
    0.28,
  ],
  ['Google searches', 'gemini', 'gemini-3.8-flash', { billing: { web_searches: 2 } }, 0.103],
  ['searches', 'anthropic', 'claude-sonnet-5-5', { billing: { web_searches: 3 } }, 0.23],
  ['a long prompt', 'openai', 'gpt-6.1-sol', { input_tokens: 300_000 }, 1.35],
  ['a short prompt of the smallest', 'anthropic', 'claude-haiku-5-5', {}, 0.01],
  ['a long prompt of the smallest', 'anthropic', 'claude-haiku-5-5', { input_tokens: 200_000 }, 0.125],
])('counts %s', async (_what, provider, model, usage, cost) => {
  expect(await costOfBill(provider, model, usage)).toBeCloseTo(cost, 6);
});

it('is recorded as it goes on, with the model that answered in the bill', async () => {
  const provider: Provider = {
    name: 'p',
    async *stream() {
      yield { type: 'end', stop_reason: 'end', usage: USAGE, model: 'the-model-itself' };
    },
  };
  const recorded: Usage[] = [];
  const counted = withUsage(provider, (usage) => void recorded.push(usage));
  const ends: StreamEvent[] = [];
  for await (const event of counted.stream(chatRequest(), new AbortController().signal)) ends.push(event);
  expect(recorded).toEqual([{ ...USAGE, billing: { model: 'the-model-itself' } }]);
  expect(ends).toMatchObject([{ type: 'end', usage: recorded[0] }]);
});
