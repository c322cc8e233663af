import { replace } from './replace.js';
import type { Strategy } from './strategy.js';
import { summary } from './summary.js';
import { truncate } from './truncate.js';

/** All compaction strategies. */
export const strategies: readonly Strategy[] = [summary, truncate, replace];
