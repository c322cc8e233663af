import { describe, expect, it } from '@jest/globals';
import type { Usage } from '../../lib/chat/message.js';
import { measure, type SentOverhead } from '../../lib/view/measure.js';
import { triggerOf } from '../../lib/view/size.js';
import { view } from '../../lib/view/view.js';
import { inputFor, pass, SETTINGS } from '../support/compaction.js';
import { Log } from '../support/log.js';

const usage = (input_tokens: number, output_tokens = 10): Usage => ({
  input_tokens,
  output_tokens,
  cached_tokens: 0,
  context_tokens: input_tokens + output_tokens,
});

function measured(log: Log, { fixed = 0, pending = 0, model = 'large', settings = SETTINGS } = {}) {
  return measure(view(log.entries, null), log.entries, fixed, settings, model, { pending_tokens: pending });
}

describe('measure', () => {
  it('estimates 4000 characters as 1000 tokens', () => {
    const log = new Log().exchange('x'.repeat(3999), 'y');
    expect(measured(log)).toMatchObject({ estimated_tokens: 1000, context_tokens: 1000, due: false });
  });

  it('adds the fixed content to the measured size', () => {
    expect(measured(new Log().exchange('x'.repeat(400), ''), { fixed: 50 })).toMatchObject({
      estimated_tokens: 100,
      context_tokens: 150,
    });
  });

  it('is due at the trigger and not a token below', () => {
    const settings = { ...SETTINGS, context_window: 1000 };
    expect(measured(new Log().exchange('x'.repeat(3196), ''), { settings })).toMatchObject({
      trigger: 800,
      due: false,
    });
    expect(measured(new Log().exchange('x'.repeat(3197), ''), { settings }).due).toBe(true);
  });

  it('keeps to the window if max_input_tokens is larger', () => {
    const settings = { context_window: 6000, trigger_ratio: 0.8 };
    expect(triggerOf({ ...settings, max_input_tokens: 20_000 })).toBe(4800);
    expect(triggerOf({ ...settings, max_input_tokens: 6000 })).toBe(6000);
    expect(triggerOf({ ...settings, max_input_tokens: null })).toBe(4800);
  });

  it('uses an absolute trigger before the ratio', () => {
    const settings = { ...SETTINGS, max_input_tokens: 100 };
    expect(measured(new Log().exchange('x'.repeat(400), ''), { settings })).toMatchObject({ trigger: 100, due: true });
  });

  it('uses the reported usage plus the estimate of what is new if that is larger', () => {
    const log = new Log();
    log.user('hello');
    log.answer('hi', { model: 'large', usage: usage(5000) });
    expect(measured(log).context_tokens).toBe(5010);
    log.user('x'.repeat(400), { stop_reason: 'end' });
    expect(measured(log).context_tokens).toBe(5110);
  });

  it('uses the estimate if the server reports less than was sent', () => {
    const log = new Log();
    log.user('x'.repeat(40_000));
    log.answer('hi', { model: 'large', usage: usage(2000) });
    expect(measured(log).context_tokens).toBe(10_001);
  });

  it('counts changes of the overhead since the usage was reported, if they are known', () => {
    const log = new Log();
    const { turn } = log.user('hello');
    log.answer('hi', { model: 'large', usage: usage(5000) });
    const size = (fixed: number, beside: SentOverhead | null) =>
      measure(view(log.entries, null), log.entries, fixed, SETTINGS, 'large', { last: beside }).context_tokens;
    expect(size(1000, null)).toBe(5010);
    expect(size(1000, { turn, fixed_tokens: 4000 })).toBe(2010);
    expect(size(4000, { turn, fixed_tokens: 1000 })).toBe(8010);
    expect(size(1000, { turn: turn + 1, fixed_tokens: 4000 })).toBe(5010);
  });

  it('ignores the usage of another model, and recognises a model by its dated name', () => {
    const log = new Log();
    log.user('hello');
    log.answer('hi', { model: 'large-2026-01-01', usage: usage(5000) });
    expect(measured(log, { model: 'vendor/large' }).context_tokens).toBe(5010);
    expect(measured(log, { model: 'large-mini' }).context_tokens).toBe(2);
  });

  it('ignores usage from before a compaction, and usage that counted a turn undone since', async () => {
    const log = new Log().exchange('a', 'b').exchange('c', 'd');
    log.user('hello');
    log.answer('hi', { model: 'large', usage: usage(5000) });
    expect(measured(log).context_tokens).toBe(5010);
    log.undo(1);
    expect(measured(log).context_tokens).toBe(3);
    log.entries.pop();
    const { block } = await pass(inputFor(log, { settings: { ...SETTINGS, strategy: 'truncate' } }));
    if (block) log.block(block);
    expect(block).toMatchObject({ messages_kept: 3 });
    expect(measured(log).context_tokens).toBe(2);
  });

  it('learns the real tokens of the text from usage', () => {
    const log = new Log();
    log.user('begin');
    log.answer('ok', { model: 'large', usage: usage(100) });
    let input = 110;
    for (let turn = 0; turn < 20; turn++) {
      log.user('汉'.repeat(1000));
      input += 700;
      log.answer('好', { model: 'large', usage: usage(input) });
      input += 10;
    }
    const before = measured(log).context_tokens;
    log.user('汉'.repeat(1000), { stop_reason: 'end' });
    expect(measured(log).context_tokens - before).toBeGreaterThan(600);
  });

  it('learns as much from a text with more tokens than the maximum it believes', () => {
    const log = new Log();
    let input = 10;
    for (let turn = 0; turn < 20; turn++) {
      log.user('ก'.repeat(1000));
      input += 2000;
      log.answer('ok', { model: 'large', usage: usage(input, 1) });
    }
    const before = measured(log).context_tokens;
    log.user('ก'.repeat(1000), { stop_reason: 'end' });
    expect(measured(log).context_tokens - before).toBeGreaterThan(600);
  });

  it('believes at most a ratio of three, whatever an edited block says', async () => {
    const log = new Log().exchange('a', 'b').exchange('c', 'd').exchange('e', 'f');
    const { block } = await pass(inputFor(log, { settings: { ...SETTINGS, strategy: 'truncate' } }));
    if (block) log.block({ ...block, state: { ...block.state, ratios: { large: 50 } } });
    log.user('hello');
    log.answer('hi', { model: 'large', usage: usage(100) });
    log.user('x'.repeat(4000), { stop_reason: 'end' });
    expect(measured(log).context_tokens).toBe(110 + 3000);
  });

  it('does not mistake additional system text for dense messages', () => {
    const skills = (...active: readonly string[]) => ({ skills: { matched: [], active } });
    const log = new Log();
    let input = 10;
    const exchange = (question: string, grown: number, more = {}): void => {
      log.user(question, more);
      input += grown;
      log.answer('ok', { model: 'large', usage: usage(input, 1) });
    };
    exchange('hello', 0, skills());
    exchange('x'.repeat(4000), 3000, skills('git'));
    exchange('hello', 2000, skills('git'));
    exchange('hello', 2000);
    const before = measured(log).context_tokens;
    log.user('x'.repeat(4000), { stop_reason: 'end' });
    expect(measured(log).context_tokens - before).toBeLessThan(1150);
  });

  it('is not due again after a pass that did not help until the view has grown by a twentieth of the trigger', async () => {
    const settings = { ...SETTINGS, context_window: 100_000, max_input_tokens: 800, strategy: 'truncate' };
    const log = new Log().exchange('a', 'b');
    log.user('x'.repeat(3600), { stop_reason: 'end' });
    expect(measured(log, { settings }).due).toBe(true);
    const { block } = await pass(inputFor(log, { settings }));
    if (block) log.block(block);
    expect(measured(log, { settings })).toMatchObject({ context_tokens: 900, due: false });
    log.answer('x'.repeat(156), { stop_reason: 'tool_calls' });
    expect(measured(log, { settings }).due).toBe(false);
    log.answer('x'.repeat(4));
    expect(measured(log, { settings }).due).toBe(true);
  });

  it('is due again at the trigger after a pass that helped, and as soon as what was too large may leave', async () => {
    const settings = { ...SETTINGS, context_window: 1_000_000, max_input_tokens: 1000, strategy: 'truncate' };
    const log = new Log().exchange('x'.repeat(1800), 'x'.repeat(1800)).exchange('x'.repeat(400), 'b');
    const { block } = await pass(inputFor(log, { settings }));
    if (block) log.block(block);
    expect(measured(log, { settings })).toMatchObject({ due: false });
    const say = (text: string) => log.user(text, { stop_reason: 'end' });
    say('x'.repeat(3700));
    expect(measured(log, { settings }).due).toBe(true);
    say('x'.repeat(4400));
    const { block: second } = await pass(inputFor(log, { settings }));
    if (second) log.block(second);
    expect(measured(log, { settings })).toMatchObject({ due: false });
    say('hello');
    expect(measured(log, { settings })).toMatchObject({ due: true });
  });

  it('counts what is sent after the log but not stored', () => {
    const settings = { ...SETTINGS, context_window: 1000 };
    const log = new Log().exchange('a', 'x'.repeat(2800));
    expect(measured(log, { settings }).due).toBe(false);
    expect(measured(log, { settings, pending: 100 })).toMatchObject({ context_tokens: 801, due: true });
    log.user('hello');
    log.answer('hi', { model: 'large', usage: usage(790) });
    expect(measured(log, { settings, pending: 20 }).context_tokens).toBeGreaterThanOrEqual(820);
  });

  it('warns instead of compacting if the fixed content alone reaches the trigger', () => {
    const crowded = measured(new Log().exchange('a', 'b'), { fixed: 30_000 });
    expect(crowded.due).toBe(false);
    expect(crowded.warning).toContain('30000 tokens');
    expect(measured(new Log().exchange('a', 'b')).warning).toBeNull();
  });

  it('is due, at any size, while older messages are not loaded and no block replaces them', async () => {
    const log = new Log().exchange('question', 'answer').exchange('question', 'answer');
    const due = (): boolean => measure(view(log.entries, null), log.entries, 0, SETTINGS, 'main', { unloaded: 1 }).due;
    expect(due()).toBe(true);
    const settings = { ...SETTINGS, strategy: 'truncate' };
    const { block } = await pass(inputFor(log, { settings, unloaded: 1 }));
    expect(block).toMatchObject({ messages_compacted: 3, messages_kept: 2 });
    if (block) log.block(block);
    expect(due()).toBe(false);
  });
});
