import { describe, expect, it } from '@jest/globals';
import type { Usage } from '../../lib/chat/message.js';
import { asTokens } from '../../lib/chat/request.js';
import { isSameModel, ratioOf, ratiosOf, shownRatio } from '../../lib/view/measure.js';
import { view } from '../../lib/view/view.js';
import { Log } from '../support/log.js';

const usage = (input_tokens: number): Usage => ({
  input_tokens,
  output_tokens: 0,
  cached_tokens: 0,
  context_tokens: input_tokens,
});

/** Questions of 8,000 characters each, 2,000 estimated tokens, by each of which the prompt grows by so many. */
function conversation(grown: number, model = 'large', log = new Log(), turns = 4): Log {
  for (let turn = 0; turn < turns; turn += 1) {
    log.user('x'.repeat(8000), { skills: { matched: [], active: ['git'] } });
    log.answer('', { model, usage: usage(10_000 + turn * grown) });
  }
  return log;
}

const ratio = (log: Log, model = 'large') => ratioOf(view(log.entries, null), model);

function withRatios(ratios: Readonly<Record<string, number>>): Log {
  const log = new Log().exchange('a', 'b');
  log.block({
    type: 'compress',
    content: 'so far',
    strategy: 'summary',
    source: 'model',
    first_kept: 1,
    messages_compacted: 0,
    messages_kept: 2,
    tokens_before: asTokens(10),
    tokens_after: asTokens(5),
    state: { ratios },
  });
  return log;
}

describe('the ratio of real to estimated tokens', () => {
  it('is one while nothing was measured', () => {
    expect(ratio(new Log())).toBe(1);
    expect(ratio(conversation(4000, 'large', new Log(), 1))).toBe(1);
  });

  it('follows from the growth of the prompt between two answers', () => {
    const measured = ratio(conversation(4000, 'large', new Log(), 20));
    expect(measured).toBeGreaterThan(1.8);
    expect(measured).toBeLessThan(2);
  });

  it('stays between one and three', () => {
    expect(ratio(conversation(100))).toBe(1);
    expect(ratio(conversation(100_000, 'large', new Log(), 50))).toBeLessThanOrEqual(3);
    expect(ratio(conversation(-500))).toBe(1);
  });

  it('is not measured by the answers of another model', () => {
    expect(ratio(conversation(4000), 'other')).toBe(1);
    expect(ratio(conversation(4000, 'large-2026-01-01'))).toBeGreaterThan(1.1);
  });

  it('is not measured across a change of skills', () => {
    const log = new Log();
    for (let turn = 0; turn < 10; turn += 1) {
      log.user('x'.repeat(8000), { skills: { matched: [], active: [`skill-${turn}`] } });
      log.answer('', { model: 'large', usage: usage(10_000 + turn * 4000) });
    }
    expect(ratio(log)).toBe(1);
  });

  it('is that of the newest block, weighted against what came since', () => {
    const known = withRatios({ large: 2, 'other-2026': 3 });
    expect(ratio(known)).toBe(2);
    expect(ratio(known, 'vendor/other-2026')).toBe(3);
    const later = ratio(conversation(2000, 'large', known, 10));
    expect(later).toBeGreaterThan(1);
    expect(later).toBeLessThan(2);
  });

  it('is no higher than the densest script and the overhead of a message explain, whatever the growth of a prompt', () => {
    const [prior, said, wrapping] = [1000, 2000, 50];
    const log = conversation(1_000_000, 'large', new Log(), 2);
    expect(ratio(log)).toBeCloseTo((prior + 3 * said + wrapping) / (prior + said), 10);
  });

  it('is not measured again by answers from before the newest block', () => {
    const log = conversation(4000);
    log.block({
      type: 'compress',
      content: '',
      strategy: 'summary',
      source: 'model',
      first_kept: 1,
      messages_compacted: 0,
      messages_kept: 8,
      tokens_before: asTokens(10),
      tokens_after: asTokens(5),
      state: { ratios: { large: 1.2 } },
    });
    expect(ratio(log)).toBe(1.2);
  });

  it('is kept even if the newest message is of no model', () => {
    const log = conversation(4000);
    log.user('a note', { stop_reason: 'end' });
    expect(Object.keys(ratiosOf(view(log.entries, null)))).toEqual(['large']);
  });

  it('is kept for the eight models used last, rounded', () => {
    const names = Array.from({ length: 10 }, (_, index) => `m${index}`);
    const log = conversation(4000, 'large', withRatios(Object.fromEntries(names.map((name) => [name, 1.5]))));
    const kept = ratiosOf(view(log.entries, null));
    expect(Object.keys(kept)).toEqual([...names.slice(3), 'large']);
    expect(kept.large).toBe(Math.round(ratio(log) * 100) / 100);
    expect(kept.large).toBeGreaterThan(1);
  });

  it('replaces that of the same model under another name, and stays without an answer', () => {
    expect(ratiosOf(view(withRatios({ large: 2 }).entries, null))).toEqual({ large: 2 });
    const log = conversation(4000, 'large-latest', withRatios({ large: 2, other: 3 }));
    expect(Object.keys(ratiosOf(view(log.entries, null)))).toEqual(['other', 'large-latest']);
  });
});

describe('the ratio of one request', () => {
  it('is its tokens divided by the estimate, rounded, between one and three', () => {
    expect(shownRatio(1234, 1000)).toBe(1.23);
    expect(shownRatio(500, 1000)).toBe(1);
    expect(shownRatio(9000, 1000)).toBe(3);
  });

  it('is unknown if the request is small', () => {
    expect(shownRatio(300, 199)).toBeNull();
    expect(shownRatio(300, 200)).toBe(1.5);
  });

  it('is used as long as the conversation has shown less', () => {
    expect(ratioOf(view(new Log().entries, null), 'large', 1.7)).toBe(1.7);
    expect(ratioOf(view(withRatios({ large: 2 }).entries, null), 'large', 1.7)).toBe(2);
  });
});

describe('two names', () => {
  it.each([
    ['large', 'large'],
    ['large', 'vendor/large'],
    ['large-2026-01-01', 'large'],
    ['large', 'large-20260101'],
    ['large', 'large:latest'],
    ['large', 'large@20260101'],
  ])('%s and %s are of one model', (one, other) => {
    expect(isSameModel(one, other)).toBe(true);
    expect(isSameModel(other, one)).toBe(true);
  });

  it.each([
    ['large', 'large-mini'],
    ['large', 'largest-2026'],
    ['large', 'x-large'],
    ['large', 'large-x2026'],
    ['large', 'small'],
    ['large', 'large-3'],
    [undefined, 'large'],
  ])('%s and %s are not', (one, other) => {
    expect(isSameModel(one, other)).toBe(false);
  });
});
