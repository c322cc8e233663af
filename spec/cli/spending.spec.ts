import { describe, expect, it } from '@jest/globals';
import type { UsageRecord } from '../../lib/cli/wiring/price.js';
import { spendingText } from '../../lib/cli/wiring/price.js';

const answer = (more: Partial<UsageRecord>): UsageRecord => ({
  provider: 'openai',
  model: 'gpt-4o',
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

  it.each([
    ['ollama', 'llama3.2', undefined],
    ['ollama', 'llama3.2', 'http://192.168.1.7:11434'],
    ['openai', 'qwen3-8b.gguf', 'http://127.0.0.1:8080/v1'],
    ['openai', 'openai/gpt-oss-20b', 'http://localhost:1234/v1'],
  ])('asks no price for %s/%s on a server of the user', (provider, model, api_base) => {
    const local = answer({ provider, model, ...(api_base !== undefined && { api_base }) });
    expect(spendingText([local])).toContain('cost         nothing: it ran on a server of your own');
    expect(spendingText([local, answer({})])).toContain('cost         about $3.00');
  });

  it.each([
    ['ollama', 'gpt-oss:120b-cloud', 'http://127.0.0.1:11434'],
    ['openai', 'anthropic/claude-sonnet-4-5', 'http://127.0.0.1:4000/v1'],
  ])('knows no price of %s/%s, which a server of the user passes on', (provider, model, api_base) => {
    expect(spendingText([answer({ provider, model, api_base })])).toContain('unknown: no published price');
  });

  it('names the models without a published price, and assumes none behind a custom address', () => {
    const bought = answer({ model: 'llama3.2', api_base: 'https://models.example/v1' });
    expect(spendingText([bought, answer({ api_base: 'http://127.0.0.1:8000/v1' })])).toContain(
      'unknown: no published price for llama3.2, gpt-4o',
    );
    expect(spendingText([answer({}), bought])).toContain('at least $3.00: no published price for llama3.2');
    expect(spendingText([answer({ model: 'openai/gpt-4o', api_base: 'https://openrouter.ai/api/v1' })])).toMatch(
      /about \$\d/,
    );
  });

  it('is an upper bound where Google may have given searches away', () => {
    const usage = { ...answer({}).usage, billing: { web_searches: 2 } };
    const searched = answer({ provider: 'gemini', model: 'gemini-3.8-flash', usage });
    expect(spendingText([searched])).toMatch(
      /at most \$\d\.\d\d, without the searches that Google gives away each month$/,
    );
    expect(spendingText([answer({ usage: { ...usage, billing: { cost: 0 } } })])).toMatch(/nothing$/);
  });

  it.each([
    ['claude-fable-5-2', 12],
    ['claude-mythos-5', 15],
    ['claude-mythos-5-20260609', 15],
    ['claude-mythos-5-2', null],
  ])('knows what %s costs, if anybody does', (model, dollars) => {
    const usage = { input_tokens: 1_000_000, output_tokens: 100_000, cached_tokens: 0, context_tokens: 1_100_000 };
    const shown = dollars === null ? `unknown: no published price for ${model}` : `about $${dollars.toFixed(2)}`;
    expect(spendingText([answer({ provider: 'anthropic', model, usage })])).toContain(shown);
  });

  it('is small for a small question, and nothing at the start', () => {
    const usage = { input_tokens: 1000, output_tokens: 10, cached_tokens: 2000, context_tokens: 1010 };
    expect(spendingText([answer({ usage })])).toMatch(/about \$0\.00\d\d$/);
    expect(spendingText([])).toBe('tokens       none in this chat yet');
  });
});
