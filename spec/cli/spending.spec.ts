import { describe, expect, it } from '@jest/globals';
import type { UsageRecord } from '../../lib/cli/wiring/connections.js';
import { spendingText } from '../../lib/cli/wiring/price.js';

const answer = (more: Partial<UsageRecord>): UsageRecord => ({
  provider: 'openai',
  model: 'gpt-4o',
  api_base: null,
  at: new Date('2026-01-01T00:00:00Z'),
  usage: { input_tokens: 1_000_000, output_tokens: 100_000, cached_tokens: 400_000, context_tokens: 1_100_000 },
  ...more,
});

describe('the cost of a chat', () => {
  it('is the tokens of all answers and their price, with cached tokens at the price for these', () => {
    expect(spendingText([answer({})])).toBe(
      'tokens       1M in (400k cached), 100k out in this chat\ncost         about $3.00',
    );
    expect(spendingText([answer({}), answer({})])).toBe(
      'tokens       2M in (800k cached), 200k out in this chat\ncost         about $6.00',
    );
  });

  it.each([
    ['anthropic', 'claude-sonnet-4-5'],
    ['gemini', 'gemini-2.5-pro'],
  ])('includes the prices of %s', (provider, model) => {
    expect(spendingText([answer({ provider, model })])).toMatch(/about \$\d/);
  });

  it('names the models without a published price, and assumes none behind a custom address', () => {
    const local = answer({ provider: 'ollama', model: 'llama3.2', api_base: 'http://127.0.0.1:11434' });
    expect(spendingText([local, answer({ api_base: 'http://127.0.0.1:8000/v1' })])).toContain(
      'unknown: no published price for llama3.2, gpt-4o',
    );
    expect(spendingText([answer({}), local])).toContain('at least $3.00: no published price for llama3.2');
    expect(spendingText([answer({ model: 'openai/gpt-4o', api_base: 'https://openrouter.ai/api/v1' })])).toMatch(
      /about \$\d/,
    );
  });

  it('is small for a small question, and nothing at the start', () => {
    const usage = { input_tokens: 1000, output_tokens: 10, cached_tokens: 2000, context_tokens: 1010 };
    expect(spendingText([answer({ usage })])).toMatch(/about \$0\.00\d\d$/);
    expect(spendingText([])).toBe('tokens       none in this chat yet');
  });
});
