import type { NewCompressBlock } from '../chat/entry.js';
import { compressBlockOf } from './compress-block.js';
import { plan } from './plan.js';
import type { CompactionInput, Strategy } from './strategy.js';

/** Keeps the newest share of the messages and drops the others from the view; an earlier summary stays. */
export const truncate: Strategy = {
  name: 'truncate',
  summary: 'keep the newest half of the messages word for word, without a summary',
  writes: false,
  plan: (input) =>
    plan(input, {
      from: 'sent',
      keep: ({ length }) => Math.ceil(length * input.settings.keep_ratio),
      writes: false,
    }),
  async *compact(input, made, _deps, signal) {
    signal.throwIfAborted();
    if (!made.changes) return null;
    yield { type: 'compact-start', strategy: 'truncate', messages: made.leaving };
    return compressBlockOf(input, made, {
      content: made.basis.block?.content ?? '',
      strategy: 'truncate',
      source: 'none',
    });
  },
};

/** The block after a failed summary. It covers nothing: the next summary begins where the last successful one ended. */
export function fallback(input: CompactionInput): NewCompressBlock {
  const made = plan(input, { from: 'sent', keep: () => input.settings.fallback_keep, writes: false });
  const content = made.basis.block?.content ?? '';
  return compressBlockOf(input, made, { content, strategy: 'truncate', source: 'fallback' });
}
