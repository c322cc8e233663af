import { describe, expect, it } from '@jest/globals';
import type { CompressBlock } from '../../../lib/chat/entry.js';
import { asTokens } from '../../../lib/chat/request.js';
import { compactionCosts } from '../../../lib/cli/wiring/price.js';
import type { SlashContext } from '../../../lib/slash/common/command.js';
import { slashCompactions } from '../../../lib/slash/compactions.js';
import { drain, stage } from '../../support/session.js';

const usage = { input_tokens: 100_000, output_tokens: 1000, cached_tokens: 0, context_tokens: 0 };

const block = (id: number, more: Partial<CompressBlock>): CompressBlock => ({
  id,
  at: '2026-01-01T00:00:00.000Z',
  type: 'compress',
  content: 'Talk.',
  strategy: 'summary',
  source: 'model',
  first_kept: null,
  messages_compacted: 1,
  messages_kept: 0,
  tokens_before: asTokens(2),
  tokens_after: asTokens(1),
  ...more,
});

const OPENAI = { provider: 'openai', api_base: null };

describe('the cost of compactions', () => {
  it('is given for those whose summary has a known price', () => {
    const known = block(5, { model: 'gpt-5-mini', usage });
    const costs = compactionCosts([known, block(6, { model: 'nobody-knows', usage }), block(7, {})], OPENAI);
    expect([...costs.keys()]).toEqual([5]);
    expect(costs.get(5)).toMatch(/^about \$0\.0\d+$/);
    expect(compactionCosts([known], { ...OPENAI, api_base: 'http://127.0.0.1:9/v1' }).size).toBe(0);
  });

  it('is in the list of /compactions', async () => {
    const { session, history, close } = await stage([]);
    try {
      await history.note({ role: 'user', content: [{ type: 'text', text: 'Talk.' }], cwd: '/work' });
      const { id: _, at: _at, ...made } = block(0, { model: 'gpt-5-mini', usage });
      const write = async function* () {
        yield* [];
        return made;
      };
      await drain(history.compact(null, write, 'keep'));
      const context = {
        session,
        prices: { compactions: async (blocks: readonly CompressBlock[]) => compactionCosts(blocks, OPENAI) },
      } as unknown as SlashContext;
      const printed: unknown[] = [];
      for await (const event of slashCompactions.run('', context, new AbortController().signal)) printed.push(event);
      expect(JSON.stringify(printed)).toMatch(/by gpt-5-mini, 100k \+ 1k tokens, about \$0\.0\d+/);
    } finally {
      await close();
    }
  });
});
