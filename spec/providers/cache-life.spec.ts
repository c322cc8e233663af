import { describe, expect, it } from '@jest/globals';
import { anthropic } from '../../lib/providers/anthropic.js';
import { ollama } from '../../lib/providers/ollama.js';
import { openai } from '../../lib/providers/openai.js';

const MINUTE = 60_000;

describe('how long a server keeps a prompt', () => {
  it('is 30 minutes at OpenAI from GPT-5.6 on, and 10 before', () => {
    const minutes = (model: string) => (openai.cacheLife?.(model, {}) ?? 0) / MINUTE;
    expect(['gpt-5.6', 'gpt-6.1-sol', 'gpt-10', 'ft:gpt-5.6:me'].map(minutes)).toEqual([30, 30, 30, 30]);
    expect(['gpt-5.4-mini', 'gpt-4o', 'o3', 'chatgpt-4o-latest'].map(minutes)).toEqual([10, 10, 10, 10]);
  });

  it('is what keep_alive says at Ollama, and 5 minutes without it', () => {
    const minutes = (options: { keep_alive?: string | number }) =>
      (ollama.cacheLife?.('llama3.2', options) ?? 0) / MINUTE;
    expect(minutes({})).toBe(5);
    expect([{ keep_alive: '1h30m' }, { keep_alive: 120 }, { keep_alive: '120' }].map(minutes)).toEqual([90, 2, 2]);
    expect([{ keep_alive: '-1m' }, { keep_alive: -1 }].map(minutes)).toEqual([Infinity, Infinity]);
    expect([{ keep_alive: 0 }, { keep_alive: '0s' }].map(minutes)).toEqual([0, 0]);
  });

  it('is left to the usual 5 minutes elsewhere', () => {
    expect(anthropic.cacheLife).toBeUndefined();
  });
});
