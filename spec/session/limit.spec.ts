import { describe, expect, it } from '@jest/globals';
import type { JsonValue } from '../../lib/chat/json.js';
import { textModel } from '../../lib/session/turn/text-model.js';
import { CONFIGURED } from '../support/compaction.js';
import { memory } from '../support/memory.js';
import { cases } from '../support/properties.js';
import { adapter } from '../support/providers.js';
import { drain, stage } from '../support/session.js';
import { type SeenRequest, vendorServer } from '../support/vendor-server.js';
import { type Dialect, dialects } from '../support/vendors.js';

const WINDOW = 1_048_576;
const TURNS = Math.min(40, cases(12));
/** As `max_input_tokens`; null is a small `trigger_ratio`. */
const LIMITS = [2000, 5000, 20_000, 128_000, null] as const;
const STRATEGIES = ['summary', 'truncate', 'replace'] as const;
/** What the user says in turn, in shares of the limit: six of the larger ones alone are more than it. */
const SHARES = [0.02, 0.25, 0.3, 0.05, 0.2, 0.3, 0.01, 0.28] as const;

// Every limit and every strategy with one vendor, and every vendor with one of each; with HI_ROUNDS=2 with each
// strategy.
const table = dialects.flatMap((dialect, index) =>
  STRATEGIES.slice(0, index === 0 ? STRATEGIES.length : cases(1)).flatMap((strategy) =>
    (index === 0 ? LIMITS : [20_000]).map((limit) => ({ dialect, strategy, limit })),
  ),
);

describe(`no request of ${TURNS} turns reaches the limit`, () => {
  it.each(table)('$dialect.title, $strategy, limit $limit', async ({ dialect, strategy, limit }) => {
    const trigger = limit ?? Math.floor(0.02 * WINDOW);
    const sizes = await sizesOf(dialect, strategy, limit, trigger);
    expect(sizes).toHaveLength(TURNS);
    expect(Math.max(...sizes)).toBeLessThan(trigger);
    // It is the limit that is kept, not far less.
    expect(Math.max(...sizes)).toBeGreaterThan(0.6 * trigger);
  });
});

/** The size of each request of a conversation, in tokens by the plain estimate. */
async function sizesOf(dialect: Dialect, strategy: string, limit: number | null, trigger: number) {
  await using server = await vendorServer(dialect.text('They talked ', 'about it.'));
  const provider = await adapter(dialect.provider, `${server.url}${dialect.path}`, dialect.settings);
  const target = (model: string) => ({
    provider: provider.name,
    model,
    context_window: WINDOW,
    memory: memory(),
    connect: async () => provider,
  });
  const compaction = { ...CONFIGURED, strategy, trigger_ratio: limit === null ? 0.02 : 0.8, max_input_tokens: limit };
  const { session, close } = await stage([], {
    models: { target: target('main'), writers: () => [textModel(target('small'))] },
    settings: { compaction },
  });
  for (let turn = 0; turn < TURNS; turn += 1) {
    const length = Math.floor(4 * trigger * (SHARES[turn % SHARES.length] ?? 0));
    const text = `Question ${turn}. `.padEnd(length, 'and so on ');
    await drain(session.send({ text, texts: [], attachments: [] }, new AbortController().signal));
  }
  await close();
  return server.requests
    .filter((request) => !isOf('small', request) && request.method === 'POST')
    .map(({ body }) => Math.ceil(characters(body) / 4));
}

const isOf = (model: string, { path, body }: SeenRequest): boolean =>
  body.model === model || path.includes(`/${model}:`);

/** The characters of everything that is said in a request. */
function characters(value: JsonValue | undefined, key = ''): number {
  if (typeof value === 'string') return ['text', 'content', 'instructions', 'system'].includes(key) ? value.length : 0;
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + characters(one, key), 0);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce((sum, [name, one]) => sum + characters(one, name), 0);
}
