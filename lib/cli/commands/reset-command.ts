import { quantity } from '../../chat/text.js';
import { findPaths, wasShared } from '../../config/paths.js';
import { HiError } from '../../errors.js';
import { HistoryStore } from '../../history/store.js';
import { confirm } from '../ask/inquirer.js';
import { askQuestion } from '../ask/terminal-question.js';
import type { CommonOptions } from '../base/options.js';
import { printHistoryNotices, printNotices } from '../base/output.js';
import type { World } from '../base/world.js';
import { purgeCaches } from '../forget/places.js';
import { sharingFor } from '../wiring/sharing.js';

interface ResetOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly undo?: boolean;
  readonly purge?: boolean;
}

/** Clears the conversation, or restores it. Asks on a terminal; without one it needs `-y`. */
export async function resetCommand(world: World, options: ResetOptions): Promise<number> {
  const paths = await findPaths(world.env, options.config ?? null);
  const say = (text: string): void => void (options.quiet || world.stderr.write(`${text}\n`));
  if (options.undo && options.purge) {
    throw new HiError('usage', 'Cannot use --undo and --purge together.', {
      hint: "Run 'hi reset --help' to see what they do.",
    });
  }
  if (options.undo) {
    const history = await HistoryStore.open({ folder: paths.data, now: world.now });
    await history.undoReset();
    if (wasShared(paths)) await (await sharingFor(world, paths, history))?.afterUndo();
    printHistoryNotices(world, history);
    say(`Restored ${quantity(history.totals.messages, 'message')}.`);
    return 0;
  }
  if (!options.yes && !(await confirmed(world, options.purge ?? false))) return 130;
  const history = await HistoryStore.open({ folder: paths.data, now: world.now });
  const { messages } = history.totals;
  printHistoryNotices(world, history);
  const sharing = wasShared(paths) ? await sharingFor(world, paths, history) : null;
  printNotices(world, (await sharing?.beforeReset())?.notices ?? []);
  await history.reset({ purge: options.purge ?? false });
  const problems = history.takeNotices();
  printNotices(world, problems);
  // Summaries, spilled outputs and remembered inputs hold parts of the conversation.
  if (options.purge) purgeCaches(paths);
  const purged = problems.length === 0 ? ' No copy is kept.' : '';
  const note = options.purge ? purged : ' To restore them, run: hi reset --undo';
  const where = sharing === null ? '' : ' The other machines keep theirs, and nothing of it comes back here.';
  say(messages === 0 ? 'Nothing to clear.' : `Cleared ${quantity(messages, 'message')}.${where}${note}`);
  return 0;
}

async function confirmed(world: World, purge: boolean): Promise<boolean> {
  if (world.stdinIs !== 'terminal' || !world.stderr.isTTY) {
    throw new HiError('usage', 'Cannot ask for confirmation without a terminal.', {
      hint: "To clear without asking, run 'hi reset -y'.",
    });
  }
  const message = purge ? 'Clear the conversation for good, with no copy?' : 'Clear the conversation? A copy is kept.';
  try {
    const streams = { input: world.stdin, output: world.stderr };
    return await askQuestion((asking) => confirm({ message, default: false }, asking), streams);
  } catch {
    return false;
  }
}
