import { closeSync, openSync, readdirSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { monotonic } from '../clock.js';
import { HiError } from '../errors.js';
import { systemCode } from './failure.js';
import { instance, isAlive } from './instance.js';

const PREFIX = 'history.lock.';

/** Nothing done under the lock takes longer, in milliseconds; only a stopped process holds it for so long. */
const PATIENCE = 30_000;

/** How long, in milliseconds, one that waits may look away. */
const LONGEST = 16;

/**
 * Runs `work` while no other process runs its own for this folder. `work` is synchronous, so the lock is held for its few writes and nothing else.
 *
 * Where nobody wishes, each process marks its wish with a file of its own name, then looks who else did: alone, it holds the lock; else the smallest
 * name keeps its wish and waits, the others withdraw. Whoever is killed leaves a name that belongs to no living process and binds nobody, so nothing is ever stolen.
 * Throws a `HiError` when another process holds it for half a minute, and what the system throws when the folder cannot be written.
 */
export async function locked<Result>(folder: string, work: () => Result): Promise<Result> {
  const name = PREFIX + instance();
  const wish = join(folder, name);
  // Not the time of day, which may be set while we wait.
  const since = monotonic();
  let wished = false;
  try {
    for (let tries = 0; ; tries += 1) {
      let others = living(folder, name);
      // Who wishes only where nobody does stays out of the way of the one whose turn it is, however many wait.
      if (!wished && others.length === 0) {
        wished = mark(wish);
        others = living(folder, name);
      }
      if (wished && others.length === 0) return work();
      if (wished && others.some((other) => other < name)) wished = withdraw(wish);
      if (monotonic() - since > PATIENCE) throw busy(folder, others[0] ?? name);
      await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * Math.min(2 ** tries, LONGEST)));
    }
  } finally {
    if (wished) withdraw(wish);
  }
}

/** False when another thread of this very process wishes already. */
function mark(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o600));
    return true;
  } catch (thrown) {
    if (systemCode(thrown) === 'EEXIST') return false;
    throw thrown;
  }
}

function withdraw(path: string): false {
  try {
    unlinkSync(path);
  } catch (thrown) {
    // Someone may have cleared the whole folder away: then there is nothing left to withdraw.
    if (systemCode(thrown) !== 'ENOENT') throw thrown;
  }
  return false;
}

/** The other names of living processes. Those of dead ones are cleared away. */
function living(folder: string, own: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => name.startsWith(PREFIX) && name !== own);
  return names.filter((name) => {
    const path = join(folder, name);
    const age = (): number => Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (isAlive(name.slice(PREFIX.length), age)) return true;
    rmSync(path, { force: true });
    return false;
  });
}

function busy(folder: string, name: string): HiError {
  const pid = name.split('.').at(-2) ?? '?';
  return new HiError('history', `The history in '${folder}' is held by the process '${pid}', which does not let go.`, {
    hint: `If that is a stopped hi, continue or end it; if it is gone, remove '${join(folder, name)}'.`,
  });
}
