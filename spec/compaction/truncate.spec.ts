import { describe, expect, it } from '@jest/globals';
import { view } from '../../lib/view/view.js';
import { inputFor, NOTHING, pass, SETTINGS } from '../support/compaction.js';
import { Log } from '../support/log.js';

const TRUNCATE = { ...SETTINGS, strategy: 'truncate' };
const conversation = (exchanges: number): Log => {
  const log = new Log();
  for (let turn = 0; turn < exchanges; turn++) log.exchange(`question ${turn}`, `answer ${turn}`);
  return log;
};

describe('truncate', () => {
  it('keeps exactly the newest 10 of 20 messages', async () => {
    const log = conversation(10);
    const { block, events } = await pass(inputFor(log, { settings: TRUNCATE }));
    expect(events).toEqual([{ type: 'compact-start', strategy: 'truncate', messages: 10 }]);
    expect(block).toMatchObject({
      strategy: 'truncate',
      source: 'none',
      content: '',
      first_kept: 11,
      messages_compacted: 10,
      messages_kept: 10,
    });
    if (block) log.block(block);
    expect(view(log.entries, null).messages).toEqual(log.entries.slice(10, 20));
  });

  it('keeps the pending message in addition to the newest half', async () => {
    const log = conversation(10);
    const pending = log.user('and now?');
    const { block } = await pass(inputFor(log, { settings: TRUNCATE, running: pending.id, reason: 'auto' }));
    expect(block).toMatchObject({ messages_compacted: 10, messages_kept: 11 });
  });

  it('keeps the user’s request through a long run of tools', async () => {
    const log = conversation(2);
    const request = log.user('the request');
    for (let step = 0; step < 20; step++) log.tools(`step ${step}`);
    for (let round = 0; round < 3; round++) {
      const { block } = await pass(inputFor(log, { settings: TRUNCATE, running: request.id, reason: 'auto' }));
      if (block) log.block(block);
      log.tools('another step');
      const { messages } = view(log.entries, request.id);
      expect(messages[0]).toEqual(request);
      expect(messages[1]?.role).toBe('assistant');
    }
  });

  it('has nothing to do twice in a row', async () => {
    const log = conversation(10);
    const first = await pass(inputFor(log, { settings: TRUNCATE }));
    if (first.block) log.block(first.block);
    expect(await pass(inputFor(log, { settings: TRUNCATE }))).toEqual({ block: null, events: [NOTHING] });
  });

  it('has nothing to do in an empty conversation', async () => {
    expect(await pass(inputFor(new Log(), { settings: TRUNCATE }))).toEqual({ block: null, events: [NOTHING] });
  });

  it('permanently shortens the old large results that it keeps, but not the newest', async () => {
    const log = conversation(3);
    const request = log.user('go');
    log.tools('a'.repeat(50_000));
    log.tools('b'.repeat(50_000));
    log.tools('c'.repeat(8_000));
    const input = inputFor(log, { settings: TRUNCATE, running: request.id, reason: 'auto' });
    const { block } = await pass(input);
    if (block) log.block(block);
    const sizes = () => view(log.entries, request.id).messages.map(({ content }) => JSON.stringify(content).length);
    const before = sizes();
    expect(Math.max(...before)).toBeLessThan(9000);
    expect(before.at(-1)).toBeGreaterThan(8000);
    log.tools('d');
    expect(sizes().slice(0, -2)).toEqual(before);
  });

  it('names an unknown strategy', async () => {
    const settings = { ...SETTINGS, strategy: 'truncat' };
    await expect(pass(inputFor(conversation(1), { settings }))).rejects.toMatchObject({
      code: 'config',
      hint: expect.stringContaining("'truncate'"),
    });
  });
});
