import { strategies } from '../compaction/index.js';

/**
 * The names of the compaction strategies, for the help. The build evaluates it, so that parsing a command line loads no
 * strategy.
 */
export const STRATEGY_NAMES: readonly string[] = strategies.map(({ name }) => name);
