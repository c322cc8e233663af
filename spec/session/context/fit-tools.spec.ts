import { describe, expect, it } from '@jest/globals';
import { fitTools, toolTokens } from '../../../lib/session/context/request-overhead.js';
import { SPECS } from '../../../lib/tools/tool-specs.js';
import { memory } from '../../support/memory.js';
import { answer, drain, stage } from '../../support/session.js';

const say = (text: string) => ({ text, texts: [], attachments: [] });
const never = () => new AbortController().signal;

describe('the tools', () => {
  it('are offered unchanged if they take at most a quarter of the window', () => {
    const window = 4 * toolTokens(SPECS);
    expect(fitTools(SPECS, window)).toEqual({ tools: SPECS, notice: null });
    expect(fitTools(SPECS, window - 1).tools).not.toEqual(SPECS);
  });

  it('are offered with short descriptions in a window of 2048, with names and parameters', () => {
    const { tools, notice } = fitTools(SPECS, 2048);
    expect(toolTokens(tools)).toBeLessThanOrEqual(512);
    expect(tools.map(({ name }) => name)).toEqual(SPECS.map(({ name }) => name));
    for (const [index, { parameters }] of tools.entries()) {
      expect(Object.keys(Object(parameters.properties))).toEqual(
        Object.keys(Object(SPECS[index]?.parameters.properties)),
      );
      expect(parameters.required).toEqual(SPECS[index]?.parameters.required);
    }
    expect(notice).toMatch(/of the 2048 tokens of the window.*shorter descriptions/);
  });

  it('are not offered if no description is short enough', () => {
    expect(fitTools(SPECS, 512)).toEqual({ tools: [], notice: expect.stringContaining('without them') });
  });

  it('are shortened with one notice, which the next process does not repeat', async () => {
    const known = memory();
    const notices: unknown[] = [];
    for (const text of ['one', 'two']) {
      const usage = { input_tokens: 700, output_tokens: 5, cached_tokens: 0, context_tokens: 705 };
      const set = await stage([answer('fine', [], usage)], { tools: { specs: SPECS } }, 2048, known);
      const events = await drain(set.session.send(say(text), never()));
      notices.push(events.flatMap((event) => (event.type === 'notice' ? [event.text] : [])).length);
      await set.close();
    }
    expect(notices).toEqual([1, 0]);
  });

  it('are left out with one notice for a model whose server says that it accepts none', async () => {
    const known = memory();
    const ask = async () => known.learn({ takes: { tools: false } });
    const set = await stage([answer('fine')], { tools: { specs: SPECS } }, 100_000, known, ask);
    const [first, second] = [
      await drain(set.session.send(say('one'), never())),
      await drain(set.session.send(say('two'), never())),
    ];
    expect(first.filter(({ type }) => type === 'notice')).toEqual([
      { type: 'notice', level: 'warning', text: "'m' does not support tools here: it answers without them." },
    ]);
    expect(second.filter(({ type }) => type === 'notice')).toEqual([]);
    expect(set.requests.map(({ tools }) => tools)).toEqual([[], []]);
    await set.close();
  });
});
