import { describe, expect, it } from '@jest/globals';
import { textOf } from '../../lib/chat/message.js';
import type { ChatRequest } from '../../lib/chat/request.js';
import { textModel } from '../../lib/session/turn/text-model.js';
import { CONFIGURED } from '../support/compaction.js';
import { memory } from '../support/memory.js';
import { answer, drain, type Script, stage } from '../support/session.js';

const WINDOW = 8000;
const TURNS = 40;

const cases = [1.2, 1.7, 2.15].flatMap((ratio) =>
  (['summary', 'truncate', 'replace'] as const).map((strategy) => ({ ratio, strategy })),
);

describe('a model with more tokens than the estimate', () => {
  it.each(cases)(
    'is sent no request beyond its window: $ratio times as many, $strategy',
    async ({ ratio, strategy }) => {
      const { sizes } = await talk(ratio, strategy, TURNS);
      expect(sizes).toHaveLength(TURNS);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(WINDOW);
      expect(Math.max(...sizes)).toBeGreaterThan(WINDOW / 2);
    },
  );

  it('is counted with the last measured ratio in the next process', async () => {
    const { known } = await talk(2.15, 'truncate', 3);
    expect(known.facts.token_ratio).toBeGreaterThan(1.8);
    expect(known.facts.token_ratio).toBeLessThan(2.4);
    // The text alone would fit by the estimate, but not by this model's count.
    const set = await stage([answer('a'), answer('a'), answer('a')], {}, WINDOW, known);
    for (const index of [1, 2, 3]) await drain(set.session.send(words(1000, index), new AbortController().signal));
    const status = await set.session.status(new AbortController().signal);
    expect(status.context_tokens).toBeGreaterThan(1.8 * status.estimated_tokens);
    await set.close();
  });
});

const words = (tokens: number, index: number) => ({
  text: `Question ${index}. `.padEnd(4 * tokens, 'and so on '),
  texts: [],
  attachments: [],
});

/**
 * A conversation with a model that counts `ratio` tokens for four characters, and the size of each request by that
 * count.
 */
async function talk(ratio: number, strategy: string, turns: number) {
  const known = memory();
  const sizes: number[] = [];
  const script: Script = (request, signal) => {
    const input_tokens = Math.ceil((ratio * charactersOf(request)) / 4) + 40;
    if (request.system.every((text) => !text.includes('keep the record'))) sizes.push(input_tokens);
    const usage = { input_tokens, output_tokens: 5, cached_tokens: 0, context_tokens: input_tokens + 5 };
    return answer('They talked about it.', [], usage)(request, signal);
  };
  const compaction = { ...CONFIGURED, strategy };
  const set = await stage(
    [script],
    { settings: { compaction }, models: { writers: (main) => [textModel(main)] } },
    WINDOW,
    known,
  );
  for (let turn = 0; turn < turns; turn += 1) {
    const share = [0.02, 0.2, 0.3, 0.05, 0.25, 0.3, 0.01, 0.28][turn % 8] ?? 0;
    const tokens = Math.floor((share * 0.8 * WINDOW) / ratio);
    await drain(set.session.send(words(tokens, turn), new AbortController().signal));
  }
  await set.close();
  return { known, sizes };
}

function charactersOf({ system, messages, tools }: ChatRequest): number {
  const texts = [...system, ...messages.map(({ content }) => textOf(content)), JSON.stringify(tools)];
  return texts.reduce((sum, text) => sum + text.length, 0);
}
