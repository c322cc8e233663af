import { isCompressBlock } from '../chat/entry.js';
import { HiError } from '../errors.js';
import type { CompactionInput } from './strategy.js';

/** After this many failures in a row no summary is attempted. */
const FAILURES = 3;

/** Throws a `HiError` when the newest blocks are all failures and the user did not ask for a summary: it would probably fail again. */
export function refuseAfterFailures({ entries, reason }: CompactionInput): void {
  const newest = entries.filter(isCompressBlock).slice(-FAILURES);
  if (reason === 'manual' || newest.length < FAILURES) return;
  if (newest.some((block) => block.source !== 'fallback')) return;
  throw new HiError('overload', 'three summaries in a row failed, so automatic ones are paused. /compact tries again.');
}
