import { findPaths } from '../../config/paths.js';
import { HiError } from '../../errors.js';
import { HistoryStore } from '../../history/store.js';
import { askQuestion } from '../base/ask-question.js';
import type { CommonOptions } from '../base/command-options.js';
import { printHistoryNotices, printNotices } from '../base/print-notices.js';
import type { World } from '../base/world.js';

export interface ResetOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly undo?: boolean;
  readonly purge?: boolean;
}

/** Clears the conversation, or brings it back. Asks on a terminal; without one and without `-y` it refuses. */
export async function resetCommand(world: World, options: ResetOptions): Promise<number> {
  const paths = await findPaths(world.env, options.config ?? null);
  const say = (text: string): void => void (options.quiet || world.stderr.write(`${text}\n`));
  if (options.undo && options.purge) {
    throw new HiError('usage', 'Either --undo or --purge, not both.', {
      hint: "Run 'hi reset --help' for what they do.",
    });
  }
  if (options.undo) {
    const history = await HistoryStore.open({ folder: paths.data, now: world.now });
    await history.undoReset();
    printHistoryNotices(world, history);
    say(`The conversation is back: ${counted(history.totals.messages)}.`);
    return 0;
  }
  if (!options.yes && !(await confirmed(world, options.purge ?? false))) return 130;
  const history = await HistoryStore.open({ folder: paths.data, now: world.now });
  const { messages } = history.totals;
  printHistoryNotices(world, history);
  await history.reset({ purge: options.purge ?? false });
  const left = history.takeNotices();
  printNotices(world, left);
  // Summaries, spilled outputs and remembered inputs hold parts of the conversation.
  if (options.purge) (await import('../base/purge-caches.js')).purgeCaches(paths);
  const purged = left.length === 0 ? ' No copy is kept.' : '';
  const kept = options.purge ? purged : " 'hi reset --undo' brings them back.";
  say(messages === 0 ? 'There was nothing to clear.' : `Cleared ${counted(messages)}.${kept}`);
  return 0;
}

async function confirmed(world: World, purge: boolean): Promise<boolean> {
  if (world.stdinIs !== 'terminal' || !world.stderr.isTTY) {
    throw new HiError('usage', 'Nobody can be asked whether to clear the conversation.', {
      hint: "Run 'hi reset -y'.",
    });
  }
  const { confirm } = await import('../base/inquirer.js');
  const message = purge ? 'Clear the conversation for good, with no copy?' : 'Clear the conversation? A copy is kept.';
  try {
    const streams = { input: world.stdin, output: world.stderr };
    return await askQuestion((asking) => confirm({ message, default: false }, asking), streams);
  } catch {
    return false;
  }
}

function counted(messages: number): string {
  return messages === 1 ? '1 message' : `${messages} messages`;
}
