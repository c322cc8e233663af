import { findPaths } from '../../config/paths.js';
import { HiError } from '../../errors.js';
import { HistoryStore } from '../../history/store.js';
import { neutralise } from '../../screen/text/neutralise.js';
import { confirm } from '../ask/inquirer.js';
import { askQuestion } from '../ask/terminal-question.js';
import type { CommonOptions } from '../base/options.js';
import { printHistoryNotices } from '../base/output.js';
import type { World } from '../base/world.js';
import { notSearched, orderOf } from '../forget/forgetting.js';
import { forgettingEverywhere } from '../wiring/sharing.js';

interface ForgetOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly since?: string;
  readonly last?: boolean;
}

/** Shows everything that goes, asks, and removes it for good. Resolves to the exit status. Throws `HiError`s. */
export async function forgetCommand(world: World, words: readonly string[], options: ForgetOptions): Promise<number> {
  if (!options.yes && (world.stdinIs !== 'terminal' || !world.stderr.isTTY)) {
    throw new HiError('usage', 'Cannot ask for confirmation without a terminal.', {
      hint: "To forget without being asked, run 'hi forget -y'.",
    });
  }
  const say = (text: string): void => void (options.quiet || world.stderr.write(neutralise(`${text}\n`)));
  const paths = await findPaths(world.env, options.config ?? null);
  const history = await HistoryStore.open({ folder: paths.data, now: world.now });
  try {
    const order = await orderOf({ ...options, text: words.join(' ') }, history, world.now());
    const found = await forgettingEverywhere(world, order, history, paths);
    printHistoryNotices(world, history);
    if (found === null) {
      say('There is nothing to forget.');
      if (order.kind === 'text') say(notSearched());
      return 0;
    }
    for (const line of found.shown) say(line);
    if (!options.yes && !(await confirmed(world))) return 130;
    for (const line of await found.forget()) say(line);
    printHistoryNotices(world, history);
    return 0;
  } finally {
    await history.close();
  }
}

async function confirmed(world: World): Promise<boolean> {
  const message = 'Forget all of this for good?';
  const streams = { input: world.stdin, output: world.stderr };
  try {
    return await askQuestion((asking) => confirm({ message, default: false }, asking), streams);
  } catch {
    return false;
  }
}
