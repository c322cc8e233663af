import { describe, expect, it } from '@jest/globals';
import { estimateView } from '../../lib/view/size.js';
import { view } from '../../lib/view/view.js';
import { inputFor, pass, SETTINGS } from '../support/compaction.js';
import { Log } from '../support/log.js';
import { ideal, scripted } from '../support/summarisers.js';

const WORDS = 'words and more words '.repeat(20);

function working(): { readonly log: Log; readonly running: number } {
  const log = new Log();
  for (let turn = 0; turn < 10; turn++) log.exchange(WORDS, WORDS);
  const { id } = log.user('the request');
  for (let step = 0; step < 5; step++) log.tools(`step ${step} ${'x'.repeat(3000)}`);
  return { log, running: id };
}

describe('a pass after the provider refused the request as too long', () => {
  it('halves what stays, shortens old results, and keeps the request and unread results', async () => {
    const { log, running } = working();
    const before = view(log.entries, running);
    const { block } = await pass(inputFor(log, { running, reason: 'overflow' }), [ideal()]);
    if (block) log.block(block);
    const after = view(log.entries, running);
    expect(estimateView(after)).toBeLessThan(estimateView(before) / 2);
    expect(after.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool']);
    expect(after.messages[0]).toEqual(before.messages[20]);
    expect(after.messages.at(-1)).toEqual(before.messages.at(-1));
    expect(JSON.stringify(after.messages[2]).length).toBeLessThan(1500);
  });

  it('runs again although nothing was added since the last pass', async () => {
    const { log, running } = working();
    for (const kept of [5, 3]) {
      const { block } = await pass(inputFor(log, { running, reason: 'overflow' }), [ideal()]);
      expect(block).toMatchObject({ messages_kept: kept });
      if (block) log.block(block);
    }
    expect((await pass(inputFor(log, { running, reason: 'overflow' }), [ideal()])).block).toBeNull();
  });

  it('falls back to half the size if no summary can be written', async () => {
    const { log, running } = working();
    const before = view(log.entries, running);
    const { block } = await pass(inputFor(log, { running, reason: 'overflow' }), [scripted(() => '')]);
    if (block) log.block(block);
    expect(block).toMatchObject({ source: 'fallback' });
    expect(estimateView(view(log.entries, running))).toBeLessThanOrEqual(estimateView(before) / 2);
    expect(view(log.entries, running).messages).toContainEqual(before.messages[20]);
  });

  it('allows for text with more tokens than characters / 4', async () => {
    const log = new Log();
    for (let turn = 0; turn < 30; turn++) log.exchange('汉'.repeat(1000), '汉'.repeat(500));
    const settings = { ...SETTINGS, strategy: 'truncate' };
    const plain = await pass(inputFor(log, { settings, reason: 'auto' }));
    const dense = await pass(inputFor(log, { settings, reason: 'auto', context_tokens: 33_000 }));
    expect(plain.block).toMatchObject({ messages_kept: 30 });
    expect(dense.block).toMatchObject({ tokens_before: 33_000, messages_kept: 30 });
    expect(dense.block?.tokens_after).toBeGreaterThan((plain.block?.tokens_after ?? 0) * 2.5);
  });
});
