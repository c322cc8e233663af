import { describe, expect, it } from '@jest/globals';
import type { NewCompressBlock } from '../../lib/chat/entry.js';
import { asTokens } from '../../lib/chat/request.js';
import { type CutPolicy, plan } from '../../lib/compaction/plan.js';
import { preview, settled, writeAhead } from '../../lib/compaction/run-strategy.js';
import type { CompactionInput, Plan } from '../../lib/compaction/strategy.js';
import { estimateView, triggerOf } from '../../lib/view/size.js';
import { view } from '../../lib/view/view.js';
import { inputFor, memoryCache, pass, SETTINGS } from '../support/compaction.js';
import { Log } from '../support/log.js';
import { scripted } from '../support/summarisers.js';

/** A window in which a request may have 8000 tokens, 32,000 characters. */
const settings = { ...SETTINGS, context_window: 10_000 };
const SUMMARY: CutPolicy = { from: 'base', keep: () => 6, writes: true };
const TRUNCATE: CutPolicy = { from: 'sent', keep: () => 6, writes: false };

const planned = (log: Log, policy = SUMMARY, more: Partial<CompactionInput> = {}): Plan =>
  plan(inputFor(log, { settings, ...more }), policy);
const ids = (messages: readonly { readonly id: number }[]): readonly number[] => messages.map(({ id }) => id);

/** So many turns whose question and answer have so many characters each. */
function talk(turns: number, characters: number): Log {
  const log = new Log();
  for (let turn = 0; turn < turns; turn += 1) log.exchange('q'.repeat(characters), 'a'.repeat(characters));
  return log;
}

const block = (more: Partial<NewCompressBlock> = {}): NewCompressBlock => ({
  ...{ type: 'compress', content: 'They talked.', strategy: 'summary', source: 'model', first_kept: 1 },
  ...{ messages_compacted: 2, messages_kept: 2, tokens_before: asTokens(9), tokens_after: asTokens(5) },
  ...more,
});

describe('the plan of a pass', () => {
  it('keeps the configured number of newest messages, and every message either stays or leaves', () => {
    const log = talk(10, 40);
    const made = planned(log);
    expect([ids(made.compacted), ids(made.kept)]).toEqual([ids(log.entries.slice(0, 14)), ids(log.entries.slice(14))]);
    expect(made).toMatchObject({ cut: 14, leaving: 14, shortened: [], condenses: false, changes: true, ratio: 1 });
    expect(made.tokens_before).toBe(estimateView(view(log.entries, null)));
  });

  it('keeps fewer if these do not fit, but always the newest question and unread results', () => {
    const kept = (characters: number): readonly number[] => ids(planned(talk(10, characters)).kept);
    expect(kept(4900)).toHaveLength(6);
    expect(kept(5200)).toEqual([16, 17, 18, 19, 20]);
    expect(kept(9000)).toEqual([18, 19, 20]);
    expect(kept(14_000)).toEqual([19, 20]);
    expect(kept(100_000)).toEqual([19, 20]);
  });

  it('counts unloaded messages as leaving, unless a summary covers them', () => {
    const log = talk(10, 40);
    expect(planned(log, SUMMARY, { unloaded: 500 }).leaving).toBe(514);
    log.block(block({ first_kept: 1, state: { cut: { turn: 1, id: 1 } } }));
    expect(planned(log, SUMMARY, { unloaded: 500 }).leaving).toBe(14);
  });

  it('has nothing to do if nothing would leave', () => {
    expect(planned(talk(3, 40))).toMatchObject({ compacted: [], cut: 0, changes: false, condenses: false });
  });

  it('only shortens a long summary if no message can leave', () => {
    const with_ = (prose: number, characters: number): Plan => {
      const log = new Log();
      log.exchange('old', 'old');
      const state = { cut: { turn: 4, id: 4 }, prose };
      log.block(block({ content: 'p'.repeat(prose), first_kept: null, state }));
      log.user('q'.repeat(characters));
      log.tools('ok');
      return planned(log, SUMMARY, { running: 4, reason: 'auto' });
    };
    expect(with_(20_000, 20_000)).toMatchObject({ condenses: true, changes: true, compacted: [], cut: 1 });
    expect(with_(500, 29_000)).toMatchObject({ condenses: false, changes: false });
    expect(with_(20_000, 31_000)).toMatchObject({ condenses: false });
    expect(with_(20_000, 1000)).toMatchObject({ condenses: false, cut: 0 });
  });

  it('leaves room for a text between what stays and the window, but never less than the minimum', () => {
    const roomy = planned(talk(10, 40));
    expect(roomy.room).toBeGreaterThan(7000);
    expect(roomy.room).toBeLessThan(0.94 * 8000);
    expect(planned(talk(10, 100_000)).room).toBe(128);
  });

  it('measures in the tokens of the server if they are known', () => {
    const log = talk(10, 1000);
    const estimate = estimateView(view(log.entries, null));
    const dense = planned(log, SUMMARY, { context_tokens: 2 * estimate + 100, fixed_tokens: 100 });
    expect([dense.tokens_before, dense.ratio]).toEqual([2 * estimate + 100, 2]);
    expect(dense.room).toBeLessThan(planned(log).room / 1.5);
    const hidden = planned(log, SUMMARY, { context_tokens: 4 * estimate });
    expect(hidden.ratio).toBe(3);
    expect(hidden.room).toBeLessThan(dense.room);
    const measured = planned(log, SUMMARY, { settings: { ...settings, token_ratio: 1.5 }, fixed_tokens: 100 });
    expect([measured.ratio, measured.tokens_before]).toEqual([1.5, 150 + Math.ceil(1.5 * estimate)]);
    expect(planned(log, SUMMARY, { settings: { ...settings, token_ratio: 2.5 }, context_tokens: estimate }).ratio).toBe(
      2.5,
    );
  });

  it('uses a tenth of the trigger if the overhead alone exceeds it', () => {
    const log = talk(10, 300);
    expect(ids(planned(log, SUMMARY, { fixed_tokens: 7999 }).kept)).toEqual([19, 20]);
    expect(planned(log, SUMMARY, { fixed_tokens: 8000 }).kept.length).toBeGreaterThan(2);
    expect(planned(log, SUMMARY, { fixed_tokens: 7000 }).kept.length).toBeGreaterThanOrEqual(5);
  });

  it('halves the view, or what fits if that is less, after a refusal', () => {
    const log = talk(20, 1000);
    const estimate = estimateView(view(log.entries, null));
    const made = planned(log, { ...SUMMARY, keep: () => 40 }, { reason: 'overflow' });
    const left = made.kept.reduce((sum, { content }) => sum + JSON.stringify(content).length, 0) / 4;
    expect(left).toBeLessThan(estimate / 2);
    expect(left).toBeGreaterThan(estimate / 4);
  });

  it('begins where the last real summary ended, else where the view begins', () => {
    const log = talk(6, 40);
    log.block(block({ first_kept: 5, state: { cut: { turn: 5, id: 5 } } }));
    for (let turn = 0; turn < 4; turn += 1) log.exchange('q', 'a');
    log.block(block({ source: 'fallback', first_kept: 18, state: { cut: { turn: 18, id: 18 } } }));
    log.exchange('q', 'a');
    log.exchange('q', 'a');
    expect(planned(log).compacted[0]?.id).toBe(5);
    expect(planned(log, { ...TRUNCATE, keep: () => 2 }).compacted[0]?.id).toBe(18);
  });
});

describe('old results of tools', () => {
  /** Turns with a long result each, and what is pinned. */
  function working(turns: number, characters: number): Log {
    const log = new Log();
    for (let turn = 0; turn < turns; turn += 1) {
      log.user(`do ${turn}`);
      log.tools('x'.repeat(characters));
      log.answer('done');
    }
    return log;
  }

  it('are shortened only if room is short', () => {
    const roomy = planned(working(3, 3000), TRUNCATE);
    expect(roomy.shortened).toEqual([]);
    const tight = planned(working(4, 9000), { ...TRUNCATE, keep: () => 12 });
    expect(tight.shortened.length).toBeGreaterThan(0);
    expect(tight.shortened.every(({ id }) => tight.kept.some((message) => message.id === id))).toBe(true);
    const size = (made: Plan): number => JSON.stringify(made.kept).length;
    expect(size(tight)).toBeLessThan(4 * 9000);
    expect(
      planned(working(3, 3000), { ...TRUNCATE, keep: () => 12 }, { reason: 'overflow' }).shortened.length,
    ).toBeGreaterThan(0);
  });

  it('are not shortened if they are pinned', () => {
    const log = working(4, 9000);
    const [, , result] = log.entries;
    if (result === undefined || 'type' in result) throw new Error('There is no result.');
    log.mark({ type: 'pin', message: result });
    const made = planned(log, { ...TRUNCATE, keep: () => 12 });
    expect(made.kept.find(({ id }) => id === result.id)).toEqual(result);
    expect(ids(made.shortened)).not.toContain(result.id);
  });
});

describe('a pinned message', () => {
  it('stays, takes room, and is also in the block', async () => {
    const log = talk(10, 40);
    const [first] = log.entries;
    if (first === undefined || 'type' in first) throw new Error('There is no message.');
    log.mark({ type: 'pin', message: first });
    const made = planned(log);
    expect(ids(made.kept)).toEqual([1, 15, 16, 17, 18, 19, 20]);
    expect(made.leaving).toBe(13);
    const { block: written } = await pass(inputFor(log, { settings: { ...settings, strategy: 'truncate' } }));
    expect(written).toMatchObject({
      pins: { until: log.entries.at(-1)?.id, messages: [{ id: 1 }] },
      state: { also: [], cut: { turn: 11, id: 11 } },
    });
  });

  it('is also named in the log if it is the newest question', async () => {
    const log = new Log();
    const asked = log.user('do it');
    log.mark({ type: 'pin', message: asked });
    for (let step = 0; step < 6; step += 1) log.tools(`step ${step}`);
    const input = inputFor(log, { settings: { ...settings, strategy: 'truncate' }, running: asked.id, reason: 'auto' });
    const { block: written } = await pass(input);
    expect(written).toMatchObject({ state: { also: [asked.id] } });
  });
});

describe('the preview of a pass', () => {
  it('says what would leave and stay without calling a model, and is null if there is nothing to do', () => {
    const log = talk(10, 400);
    const shown = preview(inputFor(log, { settings, fixed_tokens: 50 }));
    expect(shown).toMatchObject({ strategy: 'summary', messages_compacted: 14, messages_kept: 6 });
    expect(shown?.tokens_kept).toBe(50 + 600);
    expect(shown?.tokens_before).toBe(50 + estimateView(view(log.entries, null)));
    expect(preview(inputFor(talk(2, 40), { settings }))).toBeNull();
    expect(() => preview(inputFor(log, { settings: { ...settings, strategy: 'magic' } }))).toThrow('magic');
  });
});

describe('a block that was written ahead', () => {
  it('counts what was added since, and is not used if it no longer frees enough room', async () => {
    const log = talk(10, 1000);
    const deps = { models: [scripted(() => 'They talked.')], cache: memoryCache(), effects: {} };
    const steps = writeAhead(inputFor(log, { settings, reason: 'auto' }), deps, new AbortController().signal);
    let step = await steps.next();
    while (step.done !== true) step = await steps.next();
    const written = step.value;
    if (written === null) throw new Error('Nothing was written.');
    log.exchange('q'.repeat(1000), 'a'.repeat(1000));
    const due = inputFor(log, { settings, reason: 'auto', fixed_tokens: 10, context_tokens: 6000 });
    const now = settled(written, due);
    expect(now).toMatchObject({
      messages_kept: 8,
      tokens_before: 6000,
      messages_compacted: 14,
      content: 'They talked.',
    });
    log.block(written);
    expect(now?.state?.size).toBe(estimateView(view(log.entries, null)));
    expect(now?.tokens_after ?? 0).toBeGreaterThan(2000);
    expect(now?.tokens_after ?? 0).toBeLessThan(triggerOf(settings));
    log.entries.pop();
    for (let turn = 0; turn < 16; turn += 1) log.exchange('q'.repeat(1000), 'a'.repeat(1000));
    expect(settled(written, { ...due, entries: log.entries })).toBeNull();
  });

  it('does not exist for a strategy that takes no time, or if there is nothing to do', async () => {
    const deps = { models: [], cache: memoryCache(), effects: {} };
    for (const input of [
      inputFor(talk(10, 40), { settings: { ...settings, strategy: 'truncate' } }),
      inputFor(talk(1, 40), { settings }),
    ]) {
      const step = await writeAhead(input, deps, new AbortController().signal).next();
      expect(step).toEqual({ done: true, value: null });
    }
    const log = talk(1, 40);
    expect(settled(block(), inputFor(log, { settings }))).toBeNull();
  });
});
