import { describe, expect, it } from '@jest/globals';
import { inputFor, pass, SETTINGS } from '../support/compaction.js';
import { Log } from '../support/log.js';
import { scripted } from '../support/summarisers.js';

const settings = { ...SETTINGS, context_window: 10_000 };

/** A young conversation into which a long text was pasted, and a summariser that says what it was asked. */
async function passAt(context_tokens: number, reason: 'auto' | 'manual' = 'auto') {
  const log = new Log();
  for (let turn = 0; turn < 4; turn++) log.exchange('What is new?', 'Not much, and you?');
  const { turn } = log.user('x'.repeat(36_000));
  const model = scripted(() => 'They greeted.');
  const { block } = await pass(inputFor(log, { settings, reason, context_tokens, running: turn }), [model]);
  return { block, asked: model.asked.length };
}

describe('a summary with less room than the minimum', () => {
  it('is not requested while what is kept fits the window', async () => {
    expect(await passAt(10_000)).toEqual({ block: null, asked: 0 });
  });

  it('is requested if the window is exceeded, when every token counts', async () => {
    const { block, asked } = await passAt(10_001);
    expect(asked).toBe(1);
    expect(block?.messages_compacted).toBeGreaterThan(0);
  });

  it('is requested by hand', async () => {
    expect((await passAt(9100, 'manual')).asked).toBe(1);
  });
});
