import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { monotonic } from '../../clock.js';
import { HiError, systemCode } from '../../errors.js';
import { fileNamesIn } from '../../remove-files.js';
import { INSTANCE } from '../base/history-paths.js';
import { Wish } from './claim.js';
import { holding, LockLost } from './held.js';
import { instance, lifeOf } from './instance.js';
import { Watch } from './watch.js';

const PREFIX = 'history.lock.';

/** What the wish of a process is renamed to that was taken for dead. */
const LOST = 'history.lost.';

/** A process elsewhere that was seen to do nothing for so long, in milliseconds, counts as dead. */
const SILENCE = 10_000;

/** A process of this machine that lives and does nothing for so long, in milliseconds, is not waited for any longer. */
const PATIENCE = 30_000;

/** How long, in milliseconds, one that waits may look away. */
const LONGEST = 16;

/** How often, in milliseconds, one that waits shows that it lives. */
const RENEWAL = 1000;

/**
 * Runs `work` while no other process runs its own for this folder. `work` is synchronous, so the lock is held for its few writes and nothing else;
 * what takes longer calls `beat`.
 *
 * Where nobody wishes, each process marks its wish with a file of its own name, then looks who else did: alone, it holds the lock; else the smallest
 * name keeps its wish and waits, the others withdraw. Whoever is killed leaves a name that belongs to no living process and binds nobody.
 *
 * A process elsewhere cannot be asked whether it lives: it renews its wish, and where that is seen not to change it counts as dead. Should it only have stood
 * still, it must not write when it wakes up. So its wish is renamed, and before anybody works again `takeOver` puts what it may have open or ready out of its
 * reach. It looks for its wish (`assertHeld`) after it read and before it writes, and once more when it is done: `kept` is false when the wish was gone by then, and
 * what was written may be in the history or not.
 *
 * Throws a `HiError` when another process holds it and does nothing for half a minute, `LockLost` when the lock was lost before `work` was done, and what the
 * system throws when the folder cannot be written.
 */
export async function locked<Result>(
  folder: string,
  takeOver: () => void,
  work: () => Result,
): Promise<{ readonly result: Result; readonly kept: boolean }> {
  const name = PREFIX + instance();
  const wish = new Wish(join(folder, name));
  const watch = new Watch();
  let renewed = monotonic();
  try {
    for (let tries = 0; ; tries += 1) {
      let others = living(folder, name, watch);
      // Who wishes only where nobody does stays out of the way of the one whose turn it is, however many wait.
      if (!wish.isMade && others.length === 0) {
        wish.make();
        others = living(folder, name, watch);
      }
      // Somebody may have thought this process dead. Only a wish that stands after the look was seen by whoever looked meanwhile.
      if (wish.isMade && !wish.stands) wish.withdraw();
      else if (wish.isMade && others.length === 0) return run(folder, wish, takeOver, work);
      if (wish.isMade && others.some((other) => other < name)) wish.withdraw();
      if (monotonic() - renewed > RENEWAL) {
        renewed = monotonic();
        wish.renew();
      }
      await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * Math.min(2 ** tries, LONGEST)));
    }
  } finally {
    wish.withdraw();
  }
}

function run<Result>(folder: string, wish: Wish, takeOver: () => void, work: () => Result) {
  try {
    const result = holding(wish, () => {
      // Looked for only now: a wish that was renamed before this one stood alone is found under its new name.
      const lost = fileNamesIn(folder).filter(isLost);
      if (lost.length > 0) takeOver();
      for (const name of lost) rmSync(join(folder, name), { force: true });
      return work();
    });
    return { result, kept: wish.withdraw() };
  } catch (thrown) {
    if (wish.withdraw()) throw thrown;
    // Whatever went wrong may have done so because another process is at work.
    throw new LockLost('The lock was taken away.', { cause: thrown });
  }
}

const isWish = (name: string): boolean => name.startsWith(PREFIX) && INSTANCE.test(name.slice(PREFIX.length));

/** As `disown` names them; whatever else begins so is somebody else's. */
function isLost(name: string): boolean {
  const end = name.lastIndexOf('.');
  return (
    name.startsWith(LOST) && INSTANCE.test(name.slice(LOST.length, end)) && /^[0-9a-z]{1,8}$/.test(name.slice(end + 1))
  );
}

/** The other names of processes that live. What dead ones left is cleared away. */
function living(folder: string, own: string, watch: Watch): readonly string[] {
  const names = fileNamesIn(folder).filter((name) => isWish(name) && name !== own);
  return names.filter((name) => {
    const path = join(folder, name);
    const life = lifeOf(name.slice(PREFIX.length));
    const quiet = life === 'gone' ? null : watch.quiet(path);
    if (life === 'gone') rmSync(path, { force: true });
    if (quiet === null) return false;
    if (life === 'elsewhere' && quiet > SILENCE) return !disown(folder, name);
    if (quiet > PATIENCE) throw busy(folder, name);
    return true;
  });
}

/** Takes the wish of a process away that may wake up again; true when it is gone. */
function disown(folder: string, name: string): boolean {
  const lost = `${LOST}${name.slice(PREFIX.length)}.${Math.random().toString(36).slice(2, 10)}`;
  try {
    renameSync(join(folder, name), join(folder, lost));
  } catch (thrown) {
    if (systemCode(thrown) !== 'ENOENT') throw thrown;
  }
  return true;
}

function busy(folder: string, name: string): HiError {
  const pid = name.split('.').at(-2) ?? '?';
  return new HiError('history', `The history in '${folder}' is held by the process '${pid}', which does not let go.`, {
    hint: `If that is a stopped hi, continue or end it; if it is gone, remove '${join(folder, name)}'.`,
  });
}
