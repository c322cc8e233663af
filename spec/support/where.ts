import { it } from '@jest/globals';
import { RUNS_ON_NODE } from './program.js';

type Case = (title: string, run: () => Promise<void> | void, timeout?: number) => void;

/** `it` where this machine has what the case needs; elsewhere one that passes and says in its title that it was not run, and why. */
export function itWhere(has: boolean, missing: string): Case {
  return has ? it : (title) => it(`${title} (not run: ${missing})`, () => {});
}

/** For what only Node has: an executable is one file, compiled ahead. */
export const itOnNode = itWhere(RUNS_ON_NODE, 'an executable is one file, compiled ahead');
