import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { arrivalBlock } from '../../lib/compaction/truncate.js';
import { estimateView, triggerOf } from '../../lib/view/size.js';
import { newestBase, view } from '../../lib/view/view.js';
import { inputFor, pass, SETTINGS } from '../support/compaction.js';
import { Log } from '../support/log.js';
import { ideal } from '../support/summarisers.js';

it('many turns of another machine leave the newest of this one in view, and of themselves as many of the newest as fit', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 1, max: 80 }), fc.nat(4000), (own, late, size) => {
      const log = new Log();
      for (let turn = 0; turn < own; turn += 1) log.exchange(`own ${turn}`, 'x'.repeat(400));
      const here = view(log.entries, null).messages.slice(-SETTINGS.keep_recent);
      for (let turn = 0; turn < late; turn += 1) {
        log.user(`late ${turn}`, { from: 'laptop' });
        log.answer('y'.repeat(size), { from: 'laptop' });
      }
      const newest = log.entries.at(-1);
      log.block(arrivalBlock(inputFor(log, { reason: 'auto', context_tokens: 30_000 })));
      const after = view(log.entries, null);
      for (const message of here) expect(after.messages).toContain(message);
      expect(after.messages).toContain(newest);
      expect(estimateView(after)).toBeLessThanOrEqual(triggerOf(SETTINGS) / 2);
      // The next summary begins where the last one ended.
      expect(newestBase(log.entries)).toBeNull();
    }),
    { numRuns: 40 },
  );
});

it('arrivals in a row are no failures, after which no summary would be written', async () => {
  const log = new Log();
  for (let batch = 0; batch < 4; batch += 1) {
    log.exchange(`own ${batch}`, 'x'.repeat(4000));
    log.user(`late ${batch}`, { from: 'laptop' });
    log.answer('y'.repeat(4000), { from: 'laptop' });
    log.block(arrivalBlock(inputFor(log, { reason: 'auto', context_tokens: 30_000 })));
  }
  for (let turn = 0; turn < 10; turn += 1) log.exchange(`own ${turn}`, 'z'.repeat(4000));
  const { block } = await pass(inputFor(log, { reason: 'auto', context_tokens: 30_000 }), [ideal()]);
  expect(block).toMatchObject({ source: 'model' });
});
