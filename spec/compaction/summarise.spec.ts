import { describe, expect, it } from '@jest/globals';
import type { ChatEvent } from '../../lib/chat/event.js';
import type { Usage } from '../../lib/chat/message.js';
import { asTokens, estimateTokens, type TextModel, type TextPrompt } from '../../lib/chat/request.js';
import { recallOr, requestText } from '../../lib/compaction/summarise.js';
import { HiError } from '../../lib/errors.js';
import { inputFor, memoryCache, pass, SETTINGS } from '../support/compaction.js';
import { Log } from '../support/log.js';
import { prose } from '../support/prose.js';
import { partsOf, scripted } from '../support/summarisers.js';

const PROMPT: TextPrompt = { system: 's', user: 'u', max_output_tokens: 10 };
const USAGE: Usage = { input_tokens: 10, output_tokens: 5, cached_tokens: 0, context_tokens: 15 };
const settings = { ...SETTINGS, context_window: 10_000 };
const never = (): AbortSignal => new AbortController().signal;
const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

function talk(turns: number, characters: number): Log {
  const log = new Log();
  for (let turn = 0; turn < turns; turn += 1) log.exchange(prose(characters, turn), prose(characters, turn + 500));
  return log;
}

/** What asking a model yields, and what it comes to or throws. */
async function asked(model: Partial<TextModel>, limits: { idle?: number; total?: AbortSignal } = {}, signal = never()) {
  const events: ChatEvent[] = [];
  const whole: TextModel = { ...scripted(() => 'text'), ...model };
  const running = requestText(whole, PROMPT, { idle: 50, total: never(), ...limits }, signal);
  try {
    for (;;) {
      const { done, value } = await running.next();
      if (done) return { events, text: value, thrown: null };
      events.push(value);
    }
  } catch (thrown) {
    return { events, text: null, thrown };
  }
}

describe('the request for a text', () => {
  it('reports its progress and its usage', async () => {
    const { events, text } = await asked({
      async write(_, onProgress) {
        await pause(5);
        onProgress(5);
        await pause(5);
        onProgress(9);
        await pause(5);
        return { text: 'They spoke', stop_reason: 'end', usage: USAGE };
      },
    });
    expect(events).toEqual([
      { type: 'compact-progress', characters: 5 },
      { type: 'compact-progress', characters: 9 },
      { type: 'usage', purpose: 'summary', provider: 'scripted', model: 'small', usage: USAGE },
    ]);
    expect(text?.text).toBe('They spoke');
  });

  it('may take any time while text arrives, but not be silent for too long', async () => {
    const slow = await asked({
      async write(_, onProgress) {
        for (let part = 1; part <= 6; part += 1) {
          await pause(25);
          onProgress(part);
        }
        return { text: 'at last', stop_reason: 'end', usage: null };
      },
    });
    expect(slow.text?.text).toBe('at last');
    expect(slow.events.every(({ type }) => type === 'compact-progress')).toBe(true);
    const began = Date.now();
    const silent = await asked({ write: () => new Promise(() => undefined) }, { idle: 40 });
    expect(silent.thrown).toMatchObject({ code: 'network', message: "'small' sent nothing for 0.08 s." });
    expect(Date.now() - began).toBeGreaterThanOrEqual(75);
    const stuck = await asked(
      {
        write: (_, onProgress) => {
          onProgress(3);
          return new Promise(() => undefined);
        },
      },
      { idle: 40 },
    );
    expect(stuck.thrown).toMatchObject({ message: "'small' sent nothing for 0.04 s." });
  });

  it('is given up at the time limit of the pass, and aborted if the user stops it', async () => {
    const total = new AbortController();
    setTimeout(() => total.abort(), 10);
    let stopped = false;
    const late = await asked(
      {
        write: (_prompt, _progress, signal) => {
          signal.addEventListener('abort', () => {
            stopped = true;
          });
          return new Promise(() => undefined);
        },
      },
      { idle: 1000, total: total.signal },
    );
    expect([late.thrown, stopped]).toEqual([
      expect.objectContaining({ message: "'small' did not finish in time." }),
      true,
    ]);
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error('stopped')), 10);
    const aborted = await asked({ write: () => new Promise(() => undefined) }, { idle: 1000 }, stop.signal);
    expect(aborted.thrown).toMatchObject({ message: 'stopped' });
    let writes = 0;
    const write: TextModel['write'] = async () => {
      writes += 1;
      return { text: '', stop_reason: 'end', usage: null };
    };
    expect((await asked({ write }, {}, stop.signal)).thrown).toMatchObject({ message: 'stopped' });
    expect(writes).toBe(0);
  });

  it('ends if nobody reads on', async () => {
    let given: AbortSignal | null = null;
    const model: TextModel = {
      ...scripted(() => 'text'),
      write: (_, onProgress, signal) => {
        given = signal;
        setTimeout(() => onProgress(1), 1);
        return new Promise(() => undefined);
      },
    };
    for await (const _ of requestText(model, PROMPT, { idle: 1000, total: never() }, never())) break;
    expect(given).toMatchObject({ aborted: true });
  });

  it('gives the reason if it fails', async () => {
    const failure = new HiError('rate', 'Too many.');
    const failing = await asked({ write: async () => await Promise.reject(failure) });
    expect(failing.thrown).toBe(failure);
    expect((await asked({ write: async () => await Promise.reject(new TypeError('bug')) })).thrown).toBeInstanceOf(
      Error,
    );
  });
});

describe('a reply', () => {
  const write = (text: string, calls: string[] = []) =>
    async function* () {
      yield* [];
      calls.push(text);
      return { text, stop_reason: 'end' as const, usage: null };
    };
  const recalled = async (cache: ReturnType<typeof memoryCache>, text: string, calls: string[] = []) => {
    const step = await recallOr(cache, PROMPT, asTokens(100), write(text, calls)).next();
    if (step.done !== true) throw new Error('There is no event.');
    return step.value;
  };

  it('is stored if it is usable, and found again by the same prompt', async () => {
    const cache = memoryCache();
    const calls: string[] = [];
    expect(await recalled(cache, 'They talked.', calls)).toMatchObject({
      reply: { prose: 'They talked.' },
      written: { text: 'They talked.' },
    });
    expect(await recalled(cache, 'other', calls)).toMatchObject({ reply: { prose: 'They talked.' }, written: null });
    expect(calls).toEqual(['They talked.']);
    expect([...cache.stored.keys()]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
  });

  it('is not stored if it is unusable, and a stored one that is unusable is requested again', async () => {
    const cache = memoryCache();
    await expect(recalled(cache, '  ')).rejects.toThrow('empty');
    expect(cache.stored.size).toBe(0);
    await recalled(cache, 'They talked.');
    for (const key of cache.stored.keys()) cache.stored.set(key, 'I cannot help.');
    expect(await recalled(cache, 'Again.')).toMatchObject({ reply: { prose: 'Again.' } });
    expect([...cache.stored.values()]).toEqual(['Again.']);
  });
});

describe('a summary', () => {
  it('is requested in prompts that fit the window of the model that writes it, whatever was kept before', async () => {
    for (const context_window of [4000, 8000, 20_000]) {
      const log = talk(30, 1500);
      const facts = Array.from({ length: 12 }, (_, at) => `- fact: ${prose(200, at)}`).join('\n');
      const model = scripted(() => `${prose(400, 1)}\n=== NEW FACTS ===\n${facts}`, { context_window });
      for (let round = 0; round < 2; round += 1) {
        const { block } = await pass(inputFor(log, { settings: { ...SETTINGS, context_window: 32_000 } }), [model]);
        if (block === null) throw new Error('Nothing was written.');
        log.block(block);
        for (let turn = 0; turn < 20; turn += 1) log.exchange(prose(900, turn), prose(900, turn + 70));
      }
      expect(model.asked.length).toBeGreaterThan(2);
      for (const { system, user, max_output_tokens } of model.asked) {
        expect(estimateTokens(system.length + user.length)).toBeLessThanOrEqual(0.7 * context_window);
        expect(max_output_tokens).toBeLessThanOrEqual(0.3 * context_window + 1);
      }
    }
  });

  it('is at most four thousand tokens long, a tenth of the window, and half of what it replaces', async () => {
    const budget = async (turns: number, characters: number, context_window: number): Promise<number> => {
      const model = scripted(() => 'They talked.', { context_window: 200_000 });
      await pass(inputFor(talk(turns, characters), { settings: { ...SETTINGS, context_window } }), [model]);
      return partsOf(model.asked[0] ?? PROMPT).budget;
    };
    expect(await budget(60, 3000, 200_000)).toBe(4096);
    expect(await budget(60, 1500, 20_000)).toBe(1984);
    expect(await budget(10, 200, 100_000)).toBe(320);
    expect(await budget(8, 40, 100_000)).toBe(128);
  });

  it('is not requested from a model whose window is too small', async () => {
    const model = scripted(() => 'They talked.', { context_window: 400 });
    const { block, events } = await pass(inputFor(talk(10, 400), { settings, reason: 'auto' }), [model]);
    expect([model.asked.length, block?.source]).toEqual([0, 'fallback']);
    expect(events.at(-1)).toMatchObject({
      type: 'notice',
      level: 'warning',
      text: expect.stringContaining("The window of 'small' (400 tokens) is too small to write a summary in."),
    });
  });

  it('is requested with shorter prompts if the server finds them too long, and given up in the end', async () => {
    const short = scripted(
      (prompt) => {
        if (prompt.user.length > 5000) throw new HiError('window', 'too long');
        return 'They talked.';
      },
      { context_window: 12_000 },
    );
    const { block } = await pass(inputFor(talk(12, 1200), { settings }), [short]);
    expect(block?.source).toBe('model');
    expect(short.asked.some(({ user }) => user.length > 5000)).toBe(true);
    const full = scripted(() => {
      throw new HiError('window', 'The prompt is too long.');
    });
    const failed = await pass(inputFor(talk(12, 1200), { settings, reason: 'auto' }), [full]);
    expect(failed.block?.source).toBe('fallback');
    expect(full.asked.length).toBeGreaterThan(1);
    expect(full.asked.length).toBeLessThan(6);
    expect(JSON.stringify(failed.events)).toContain('The prompt is too long.');
  });

  it('is written by the next model if one fails, with a notice', async () => {
    const failing = scripted(() => {
      throw new HiError('overload', 'Too busy.');
    });
    const main = scripted(() => ({ text: 'They talked.', usage: USAGE }), { model: 'main' });
    const { block, events } = await pass(inputFor(talk(10, 400), { settings }), [failing, main]);
    expect(block).toMatchObject({ source: 'model', provider: 'scripted', model: 'main', usage: USAGE });
    const text = "'small' could not write the summary: Too busy. 'main' writes it instead.";
    expect(events).toContainEqual({ type: 'notice', level: 'info', text });
  });

  it('sums the usage of all its parts', async () => {
    const model = scripted(() => ({ text: 'They talked.', usage: USAGE }), { context_window: 4000 });
    const { block, events } = await pass(inputFor(talk(20, 1500), { settings: SETTINGS }), [model]);
    const calls = model.asked.length;
    expect(calls).toBeGreaterThan(2);
    expect(block?.usage).toEqual({
      ...{ input_tokens: 10 * calls, output_tokens: 5 * calls, cached_tokens: 0 },
      context_tokens: expect.any(Number),
    });
    expect(events.filter(({ type }) => type === 'usage')).toHaveLength(calls);
    const without = await pass(inputFor(talk(10, 400), { settings }), [scripted(() => 'They talked.')]);
    expect(without.block).not.toHaveProperty('usage');
  });

  it('is dropped if it would save nothing', async () => {
    const log = talk(5, 60);
    const model = scripted(() => prose(480, 1));
    const { block, events } = await pass(inputFor(log, { settings: { ...settings, keep_recent: 8 } }), [model]);
    expect(block).toBeNull();
    expect(JSON.stringify(events.at(-1))).toMatch(/it would save nothing \(\d+ tokens with it, \d+ without\)/);
  });

  it('changes nothing if it fails by hand with room left or if nothing else could leave; else the newest messages stay', async () => {
    const failing = [scripted(() => '')];
    const said = async (log: Log, more: Parameters<typeof inputFor>[1]) => {
      const { block, events } = await pass(inputFor(log, { settings, ...more }), failing);
      const last = events.at(-1);
      return [block?.messages_kept ?? null, last?.type === 'notice' ? last.text : ''] as const;
    };
    const unchanged = 'No summary was written: the answer was empty. The conversation is unchanged.';
    expect(await said(talk(10, 400), { reason: 'manual', context_tokens: 7999 })).toEqual([null, unchanged]);
    const later = 'sent for now; the older ones are kept for the next summary.';
    const kept = `No summary was written: the answer was empty. Only the newest 10 messages are ${later}`;
    expect(await said(talk(10, 400), { reason: 'manual', context_tokens: 8000 })).toEqual([10, kept]);
    expect(await said(talk(10, 400), { reason: 'auto' })).toEqual([10, kept]);
    const long = new Log();
    long.exchange('old', 'old');
    const sizes = { messages_compacted: 2, messages_kept: 0, tokens_before: asTokens(9), tokens_after: asTokens(5) };
    const state = { cut: { turn: 4, id: 4 }, prose: 20_000 };
    const content = prose(20_000, 1);
    long.block({ type: 'compress', content, strategy: 'summary', source: 'model', first_kept: null, ...sizes, state });
    long.exchange(prose(400, 2), prose(20_000, 3));
    expect(await said(long, { reason: 'manual', context_tokens: 10_100 })).toEqual([null, unchanged]);
    expect((await said(long, { reason: 'auto', context_tokens: 10_100 }))[0]).toBe(2);
    const one = new Log();
    one.exchange(prose(400, 1), prose(40_000, 2));
    const { id } = one.user(prose(400, 3));
    expect((await said(one, { reason: 'auto', running: id }))[1]).toContain('Only the newest message is sent for now');
  });
});
