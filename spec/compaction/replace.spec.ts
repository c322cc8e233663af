import { describe, expect, it } from '@jest/globals';
import { view } from '../../lib/view/view.js';
import { inputFor, pass, SETTINGS } from '../support/compaction.js';
import { Log } from '../support/log.js';
import { partsOf, scripted } from '../support/summarisers.js';

const REPLACE = { ...SETTINGS, strategy: 'replace' };
const WORDS = 'many words that say little '.repeat(20);

describe('replace', () => {
  it('leaves only the pending message, and merges the old summary into the new one', async () => {
    const log = new Log();
    for (let round = 0; round < 2; round++) {
      for (let turn = 0; turn < 5; turn++) log.exchange(WORDS, WORDS);
      const pending = log.user('and now?');
      const model = scripted(() => `Continuation ${round}.`);
      const { block } = await pass(inputFor(log, { settings: REPLACE, running: pending.id, reason: 'auto' }), [model]);
      expect(block).toMatchObject({ strategy: 'replace', messages_kept: 1 });
      if (block) log.block(block);
      expect(view(log.entries, pending.id).messages).toEqual([pending]);
      expect(view(log.entries, pending.id).block?.content).toMatch(`Continuation ${round}.`);
      expect(partsOf(model.asked[0] ?? { system: '', user: '', max_output_tokens: 0 }).earlier).toBe(
        round === 0 ? '' : 'Continuation 0.',
      );
      log.answer('go on');
    }
  });

  it('keeps the work of the running turn so far', async () => {
    const log = new Log();
    for (let turn = 0; turn < 5; turn++) log.exchange(WORDS, WORDS);
    const pending = log.user('work');
    log.tools('result');
    const { block } = await pass(inputFor(log, { settings: REPLACE, running: pending.id }), [scripted(() => 'All.')]);
    expect(block).toMatchObject({ messages_compacted: 10, messages_kept: 3, first_kept: pending.id });
  });

  it("leaves no message between turns, but still sends another process's open turn", async () => {
    const log = new Log();
    for (let turn = 0; turn < 5; turn++) log.exchange(WORDS, WORDS);
    const other = log.user('elsewhere');
    const input = inputFor(log, { settings: REPLACE });
    const { block } = await pass(input, [scripted(() => 'All.')]);
    expect(block).toMatchObject({ first_kept: null, messages_compacted: 10, messages_kept: 0 });
    // Begun and ended while the summary was written: its ids are below the block's.
    const quick = log.exchange('quick', 'answer').entries.slice(-2);
    if (block) log.block(block);
    expect(view(log.entries, null).messages).toEqual(quick);
    log.message('assistant', [{ type: 'text', text: 'late' }], { turn: other.id, stop_reason: 'end' });
    expect(view(log.entries, null).messages.map(({ turn }) => turn)).toEqual([other.id, other.id, 12, 12]);
    expect(await pass(inputFor(log, { settings: REPLACE }), [scripted(() => 'Short.')])).toMatchObject({
      block: { messages_compacted: 4 },
    });
  });

  it('shortens a long summary if that alone makes enough room', async () => {
    const log = new Log().exchange('x'.repeat(40_000), 'y'.repeat(40_000));
    const settings = { ...SETTINGS, strategy: 'replace' };
    const first = await pass(inputFor(log, { settings }), [scripted(() => 'Words. '.repeat(1100))]);
    if (first.block) log.block(first.block);
    const running = log.user('hello').id;
    log.tools('z'.repeat(4 * 23_000));
    const model = scripted(() => 'Less.');
    const due = { settings, running, context_tokens: 25_700, reason: 'auto' } as const;
    const { block } = await pass(inputFor(log, due), [model]);
    expect(model.asked).toHaveLength(1);
    expect(block).toMatchObject({ source: 'model', content: 'Less.', messages_compacted: 0 });
    if (block) log.block(block);
    expect(view(log.entries, running).messages).toHaveLength(3);
  });
});
