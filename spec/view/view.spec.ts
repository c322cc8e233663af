import { describe, expect, it } from '@jest/globals';
import type { Message } from '../../lib/chat/message.js';
import { asTokens } from '../../lib/chat/request.js';
import { firstNeeded, openTurns, view } from '../../lib/view/view.js';
import { inputFor, pass, SETTINGS } from '../support/compaction.js';
import { Log } from '../support/log.js';

const ids = (messages: readonly Message[]): readonly number[] => messages.map(({ id }) => id);
const TRUNCATE = { ...SETTINGS, strategy: 'truncate' };

async function truncated(log: Log, running: number | null = null): Promise<void> {
  const { block } = await pass(inputFor(log, { settings: TRUNCATE, running }));
  if (block) log.block(block);
}

describe('view', () => {
  it('is every message of a short conversation, unchanged', () => {
    const log = new Log().exchange('hello', 'hi').exchange('and?', 'and what?');
    expect(view(log.entries, null)).toEqual({ block: null, messages: log.entries });
  });

  it('contains the running turn and leaves out one that a crash cut short', () => {
    const log = new Log();
    log.user('lost');
    const running = log.user('asked again');
    expect(ids(view(log.entries, running.id).messages)).toEqual([2]);
    expect(view(log.entries, null).messages).toEqual([]);
    expect(openTurns(log.entries)).toEqual([1, 2]);
  });

  it('treats a turn as finished when it ended, was refused or was interrupted, and a note at once', () => {
    const log = new Log().exchange('a', 'b');
    log.user('c');
    log.answer('par', { stop_reason: 'interrupted' });
    log.user('ls', { stop_reason: 'end' });
    log.user('d');
    log.tools('result');
    expect(openTurns(log.entries)).toEqual([6]);
  });

  it('leaves out what the user has undone', () => {
    const log = new Log().exchange('a', 'b').exchange('c', 'd');
    log.undo(3);
    expect(ids(view(log.entries, null).messages)).toEqual([1, 2]);
  });

  it('keeps turns of two processes whole though they alternate in the log', () => {
    const log = new Log();
    log.user('first');
    log.user('second');
    log.message('assistant', [{ type: 'text', text: 'one' }], { turn: 1, stop_reason: 'end' });
    log.message('assistant', [{ type: 'text', text: 'two' }], { turn: 2, stop_reason: 'end' });
    expect(ids(view(log.entries, null).messages)).toEqual([1, 3, 2, 4]);
  });

  it('does not change during a turn when another process finishes one', () => {
    const log = new Log().exchange('a', 'b');
    const other = log.user('elsewhere');
    const running = log.user('here');
    const before = view(log.entries, running.id).messages;
    log.message('assistant', [{ type: 'text', text: 'done' }], { turn: other.id, stop_reason: 'end' });
    expect(view(log.entries, running.id).messages).toEqual(before);
    log.message('assistant', [{ type: 'text', text: 'done too' }], { turn: running.id, stop_reason: 'end' });
    expect(ids(view(log.entries, null).messages)).toEqual([1, 2, 3, 5, 4, 6]);
  });

  it('sends neither a result without its call nor a call without its result', () => {
    const log = new Log();
    log.user('go');
    log.message('tool', [{ type: 'tool_result', call_id: 'gone', name: 'bash', result: 'x' }]);
    log.message('assistant', [
      { type: 'text', text: 'hm' },
      { type: 'tool_call', call_id: 'never', name: 'bash', args: {} },
    ]);
    log.answer('ok');
    expect(view(log.entries, null).messages.map(({ content }) => content)).toEqual([
      [{ type: 'text', text: 'go' }],
      [{ type: 'text', text: 'hm' }],
      [{ type: 'text', text: 'ok' }],
    ]);
  });
});

describe('a view with empty messages', () => {
  it('leaves out an answer that was interrupted before its first word', () => {
    const log = new Log();
    log.user('never mind');
    log.message('assistant', [], { stop_reason: 'interrupted' });
    expect(ids(view(log.entries, null).messages)).toEqual([1]);
    expect(openTurns(log.entries)).toEqual([]);
  });
});

describe('a view after a compaction', () => {
  it('begins at the first kept message', async () => {
    const log = new Log();
    for (let turn = 0; turn < 10; turn++) log.exchange('question', 'answer');
    await truncated(log);
    log.exchange('new', 'newer');
    expect(ids(view(log.entries, null).messages)).toEqual([11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 23]);
  });

  it('sends a turn of another process that was open when the block was written, as soon as it is finished', async () => {
    const log = new Log().exchange('a', 'b').exchange('c', 'd');
    const other = log.user('elsewhere');
    for (let turn = 0; turn < 10; turn++) log.exchange('question', 'answer');
    await truncated(log);
    await truncated(log.exchange('more', 'and more'));
    const before = ids(view(log.entries, null).messages);
    const late = log.message('assistant', [{ type: 'text', text: 'late' }], { turn: other.id, stop_reason: 'end' });
    expect(ids(view(log.entries, null).messages)).toEqual([other.id, late.id, ...before]);
  });

  it('gives up on a turn without a sign of life for a day', async () => {
    const log = new Log();
    const lost = log.user('crashed');
    for (let turn = 0; turn < 10; turn++) log.exchange('question', 'answer');
    log.message('user', [{ type: 'text', text: 'next day' }], { at: '2026-01-03T00:00:00.000Z', stop_reason: 'end' });
    await truncated(log);
    log.message('assistant', [{ type: 'text', text: 'late' }], { turn: lost.id, stop_reason: 'end' });
    expect(ids(view(log.entries, null).messages)).not.toContain(lost.id);
  });

  it('is the same if the log is read from the first necessary entry', async () => {
    const log = new Log();
    for (let turn = 0; turn < 20; turn++) log.exchange(`question ${turn}`, 'answer');
    await truncated(log);
    log.user('elsewhere');
    for (let turn = 0; turn < 20; turn++) log.exchange(`question ${turn}`, 'answer');
    await truncated(log);
    const first = firstNeeded(log.entries) ?? 0;
    const opened = log.reloaded().filter(({ id }) => id >= first);
    expect(first).toBeGreaterThan(40);
    expect(view(opened, null)).toEqual(view(log.entries, null));
    expect(firstNeeded(opened)).toBe(first);
  });

  it('uses the first kept message of a block without a state', () => {
    const log = new Log().exchange('a', 'b').exchange('c', 'd');
    log.block({
      type: 'compress',
      content: 'so far',
      strategy: 'summary',
      source: 'model',
      first_kept: 3,
      messages_compacted: 2,
      messages_kept: 2,

      tokens_before: asTokens(10),
      tokens_after: asTokens(5),
    });
    expect(ids(view(log.entries, null).messages)).toEqual([3, 4]);
  });

  it('needs the whole log while nothing was compacted, and nothing of an empty one', () => {
    expect(firstNeeded(new Log().exchange('a', 'b').entries)).toBe(1);
    expect(firstNeeded([])).toBeNull();
  });
});
