import { describe, expect, it } from '@jest/globals';
import type { CompactionSource } from '../../lib/chat/entry.js';
import type { JsonObject } from '../../lib/chat/json.js';
import type { Usage } from '../../lib/chat/message.js';
import { asTokens } from '../../lib/chat/request.js';
import { leastLeft, type MeasureContext, measure, realSize } from '../../lib/view/measure.js';
import { loadedFrom, view } from '../../lib/view/view.js';
import { SETTINGS } from '../support/compaction.js';
import { Log } from '../support/log.js';

const LIMITED = { ...SETTINGS, context_window: 100_000, max_input_tokens: 800 };
const chars = (tokens: number): string => 'x'.repeat(4 * tokens);

function addBlock(log: Log, content: string, state?: JsonObject, source: CompactionSource = 'model'): void {
  log.block({
    type: 'compress',
    content,
    strategy: 'summary',
    source,
    first_kept: 1,
    messages_compacted: 0,
    messages_kept: 1,
    tokens_before: asTokens(10),
    tokens_after: asTokens(5),
    ...(state && { state }),
  });
}

/** A question of 100 tokens, an answer of 1000 that calls nothing more, and the newest one of 200. */
function conversation(): Log {
  const log = new Log().exchange(chars(500), chars(500));
  log.user(chars(100));
  log.answer(chars(1000), { stop_reason: 'tool_calls' });
  log.answer(chars(200));
  return log;
}

describe('the minimum that a pass leaves', () => {
  const least = (log: Log) => leastLeft(view(log.entries, null));

  function withBlock(source: CompactionSource): Log {
    const log = conversation();
    addBlock(log, chars(50), { cut: { turn: 1, id: 1 }, prose: 120 }, source);
    return log;
  }

  it('is the newest user message, the last group, and room for a summary', () => {
    expect(least(conversation())).toBe(300 + 128);
  });

  it.each(['model', 'cache'] as const)('has what code keeps of a text that is written anew, after a %s', (source) => {
    expect(least(withBlock(source))).toBe(300 + 128 + 20);
  });

  it.each(['none', 'fallback'] as const)('has the whole text of a block that wrote none, after a %s', (source) => {
    expect(least(withBlock(source))).toBe(350);
  });
});

describe('the real size of the view', () => {
  it.each([
    [100, 100, { ratio: 1, hidden: 0 }],
    [150, 100, { ratio: 1.5, hidden: 0 }],
    [50, 100, { ratio: 1, hidden: 0 }],
    [500, 100, { ratio: 3, hidden: 200 }],
    [50, 0, { ratio: 1, hidden: 0 }],
  ])('of %d tokens with an estimate of %d', (real, estimate, expected) => {
    expect(realSize(real, asTokens(estimate))).toEqual(expected);
  });
});

describe('a compaction right after another', () => {
  const due = (log: Log, fixed = 0, context: MeasureContext = {}) =>
    measure(view(log.entries, null), log.entries, fixed, LIMITED, 'large', context).due;

  /** A view of 750 tokens, of which these cannot leave, right after a block. */
  function stuck(least: number): Log {
    const log = new Log().exchange(chars(750 - least), '');
    log.user(chars(least), { stop_reason: 'end' });
    addBlock(log, '', { cut: { turn: 1, id: 1 }, size: 740 }, 'none');
    return log;
  }

  it('waits if the overhead and what cannot leave reach the trigger', () => {
    expect(due(stuck(600), 100)).toBe(true);
    expect(due(stuck(710), 100)).toBe(false);
    expect(due(stuck(600), 50, { pending_tokens: 60 })).toBe(true);
    expect(due(stuck(695), 50, { pending_tokens: 60 })).toBe(false);
    expect(due(stuck(700), 100)).toBe(false);
    expect(due(stuck(699), 100)).toBe(true);
  });

  it('waits if the overhead alone leaves no room in real tokens', () => {
    const settings = { ...LIMITED, token_ratio: 2 };
    const real = (log: Log, fixed: number) =>
      measure(view(log.entries, null), log.entries, fixed, settings, 'large').due;
    // 2 x 100 tokens of overhead, and 2 x 290 or 310 that cannot leave, of a view that has not grown.
    expect(real(stuck(290), 100)).toBe(true);
    expect(real(stuck(310), 100)).toBe(false);
  });

  it('waits if a server in between adds the trigger to every request', () => {
    const log = new Log();
    log.user(chars(90), { stop_reason: 'end' });
    addBlock(log, '', { cut: { turn: 1, id: 1 }, size: 100 }, 'none');
    log.user('x');
    const usage: Usage = { input_tokens: 2000, output_tokens: 1, cached_tokens: 0, context_tokens: 2001 };
    log.answer(chars(9), { model: 'large', usage });
    expect(due(log)).toBe(false);
  });

  it('waits until the view has grown by a twentieth of the trigger in real tokens', () => {
    const log = new Log();
    log.user(chars(900), { stop_reason: 'end' });
    addBlock(log, '', { cut: { turn: 1, id: 1 }, size: 900, ratios: { large: 2 } }, 'none');
    expect(due(log)).toBe(false);
    log.answer(chars(19), { stop_reason: 'tool_calls' });
    expect(due(log)).toBe(false);
    log.answer(chars(1));
    expect(due(log)).toBe(true);
  });

  it('waits for a message if the block does not record how large the view was', () => {
    const log = new Log();
    log.user(chars(900), { stop_reason: 'end' });
    addBlock(log, '', { cut: { turn: 1, id: 1 } });
    expect(due(log)).toBe(false);
    log.user('x', { stop_reason: 'end' });
    expect(due(log)).toBe(true);
  });
});

describe('the reported usage', () => {
  const usage: Usage = { input_tokens: 5000, output_tokens: 10, cached_tokens: 0, context_tokens: 5010 };
  const size = (log: Log) =>
    measure(view(log.entries, null), log.entries, 0, SETTINGS, 'large', {}).context_tokens as number;

  it("does not cover another process's turn that was open when its turn began", () => {
    const log = new Log();
    const other = log.user(chars(100));
    log.user('here');
    log.answer('hi', { model: 'large', usage });
    log.message('assistant', [{ type: 'text', text: chars(100) }], { turn: other.id, stop_reason: 'end' });
    expect(size(log)).toBe(5210);
  });

  it('does not cover what came after it in its own turn', () => {
    const log = new Log();
    const { turn } = log.user('hello');
    log.message('assistant', [{ type: 'tool_call', call_id: 'a', name: 'bash', args: {} }], { model: 'large', usage });
    log.message('tool', [{ type: 'tool_result', call_id: 'a', name: 'bash', result: chars(100) }]);
    const shown = view(log.entries, turn);
    expect(measure(shown, log.entries, 0, SETTINGS, 'large', {}).context_tokens).toBeGreaterThan(5100);
  });

  it('is that of the newest answer with usage', () => {
    const log = new Log();
    log.user('hello');
    log.answer('hi', { model: 'large', usage });
    log.user(chars(50));
    log.answer(chars(50), { model: 'large' });
    expect(size(log)).toBe(5110);
  });

  it('is used if a turn was undone before it', () => {
    const log = new Log().exchange('a', 'b');
    log.undo(1);
    log.user('hello');
    log.answer('hi', { model: 'large', usage });
    expect(size(log)).toBe(5010);
  });

  it('is ignored if the server counted no prompt', () => {
    const log = new Log();
    log.user('hello');
    log.answer('hi', { model: 'large', usage: { ...usage, input_tokens: 0 } });
    expect(size(log)).toBe(2);
  });
});

describe('the loaded part of a log', () => {
  it('is measured by its messages alone', () => {
    const log = new Log().exchange('a', 'b').exchange('c', 'd');
    log.undo(99);
    expect(loadedFrom(log.entries, { messages: 4, characters: 100 })).toBe(1);
    expect(loadedFrom(log.entries, { messages: 3, characters: 100 })).toBe(3);
    const undone = new Log();
    undone.undo(99);
    expect(loadedFrom(undone.exchange('a', 'b').entries)).toBe(1);
  });
});
