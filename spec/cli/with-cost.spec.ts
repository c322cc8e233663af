import { expect, it } from '@jest/globals';
import type { ChatEvent } from '../../lib/chat/event.js';
import type { Connections, UsageRecord } from '../../lib/cli/wiring/connections.js';
import { withCost } from '../../lib/cli/wiring/with-cost.js';
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

function record(model: string, api_base: string | null = null): UsageRecord {
  return { provider: 'anthropic', model, api_base, at: new Date('2026-01-01'), usage: USAGE };
}

/** The costs that the ends of turns tell, where each turn makes these requests. */
async function costsOf(...turns: readonly (readonly UsageRecord[])[]): Promise<readonly unknown[]> {
  const spent: UsageRecord[] = [];
  async function* events(): AsyncGenerator<ChatEvent> {
    for (const records of turns) {
      for (const one of records) spent.push(one);
      yield { type: 'text', text: 'x' };
      yield END;
    }
  }
  const connections: Pick<Connections, 'spent'> = { spent };
  const told = await drain(withCost(events(), connections));
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
