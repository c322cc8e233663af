import { describe, it } from '@jest/globals';
import { RUNS_ON_NODE } from './program.js';
import { missing } from './real-server.js';

type Case = (title: string, run: () => Promise<void> | void, timeout?: number) => void;

/** `run` where this machine has what the case needs; elsewhere a skipped case whose title says why. */
export function itWhere(has: boolean, missing: string, run: Case = it): Case {
  return has ? run : (title) => it.skip(`${title} (not run: ${missing})`, () => {});
}

/** A case that runs at the same time as the others of its file: for those that mostly wait. */
export const together: Case = (title, run, timeout) => it.concurrent(title, async () => await run(), timeout);

/** For what only Node has: an executable is one file, compiled ahead. */
export const itOnNode = itWhere(RUNS_ON_NODE, 'an executable is one file, compiled ahead');

/** The specs that need real servers; where there are none, one skipped case that says so. */
export function withRealServers(specs: () => void): void {
  const reason = missing([]);
  if (reason === null) specs();
  else describe('the real servers', () => itWhere(false, reason)('answer', () => {}));
}
