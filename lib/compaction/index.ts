import { replace } from './replace.js';
import type { Strategy } from './strategy.js';
import { summary } from './summary.js';
import { truncate } from './truncate.js';

/** The ways to make the view shorter, by the name the configuration uses. */
export const strategies: readonly Strategy[] = [summary, truncate, replace];
