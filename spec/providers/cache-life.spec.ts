import { describe, expect, it } from '@jest/globals';
import { gemini } from '../../lib/providers/gemini.js';
import { ollama } from '../../lib/providers/ollama.js';
import { openai } from '../../lib/providers/openai.js';

const MINUTE = 60_000;

describe('how long a server keeps a prompt', () => {
  it('is 30 minutes at OpenAI from GPT-5.6 on, or 12 hours if asked for, and 10 minutes before', () => {
    const minutes = (model: string) => openai.cacheTerms?.(model, {}, true).map(({ life }) => life / MINUTE);
    for (const model of ['gpt-5.6', 'gpt-6.1-sol', 'gpt-10', 'ft:gpt-5.6:me'])
      expect(minutes(model)).toEqual([30, 0, 720]);
    for (const model of ['gpt-5.4-mini', 'gpt-4o', 'o3', 'chatgpt-4o-latest']) expect(minutes(model)).toEqual([10]);
  });

  it('is what keep_alive says at Ollama, and 5 minutes without it', () => {
    const minutes = (options: { keep_alive?: string | number }) =>
      (ollama.cacheTerms?.('llama3.2', options, true)[0]?.life ?? Number.NaN) / MINUTE;
    expect(minutes({})).toBe(5);
    expect([{ keep_alive: '1h30m' }, { keep_alive: 120 }, { keep_alive: '120' }].map(minutes)).toEqual([90, 2, 2]);
    expect([{ keep_alive: '-1m' }, { keep_alive: -1 }].map(minutes)).toEqual([Infinity, Infinity]);
    expect([{ keep_alive: 0 }, { keep_alive: '0s' }].map(minutes)).toEqual([0, 0]);
  });

  it('is left to the usual 5 minutes elsewhere', () => {
    expect(gemini.cacheTerms).toBeUndefined();
    expect(openai.cacheTerms?.('gpt-6.1-sol', {}, false)).toEqual([]);
  });
});
