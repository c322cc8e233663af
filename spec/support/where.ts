import { it } from '@jest/globals';
import { RUNS_ON_NODE } from './program.js';

type Case = (title: string, run: () => Promise<void> | void, timeout?: number) => void;

/** `run` where this machine has what the case needs; elsewhere a skipped case whose title says why. */
export function itWhere(has: boolean, missing: string, run: Case = it): Case {
  return has ? run : (title) => it.skip(`${title} (not run: ${missing})`, () => {});
}

/** A case that runs at the same time as the others of its file: for those that mostly wait. */
export const together: Case = (title, run, timeout) => it.concurrent(title, async () => await run(), timeout);

/** For what only Node has: an executable is one file, compiled ahead. */
export const itOnNode = itWhere(RUNS_ON_NODE, 'an executable is one file, compiled ahead');
