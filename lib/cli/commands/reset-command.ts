import { quantity } from '../../chat/text.js';
import { findPaths, wasShared } from '../../config/paths.js';
import { HiError } from '../../errors.js';
import { HistoryStore } from '../../history/store.js';
import { CLEARED_ELSEWHERE, KEPT_ELSEWHERE } from '../../session/common/other-machines.js';
import { confirmCommand } from '../ask/confirm-command.js';
import type { CommonOptions } from '../base/options.js';
import { printHistoryNotices, printNotices } from '../base/output.js';
import type { World } from '../base/world.js';
import { leftByReset, purgeCaches } from '../forget/places.js';
import { sharingFor } from '../wiring/sharing.js';

interface ResetOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly undo?: boolean;
  readonly purge?: boolean;
  readonly everywhere?: boolean;
}

/** Clears the conversation, or restores it. Asks on a terminal; without one it needs `-y`. */
export async function resetCommand(world: World, options: ResetOptions): Promise<number> {
  const paths = await findPaths(world.env, options.config ?? null);
  const say = (text: string): void => void (options.quiet || world.stderr.write(`${text}\n`));
  if (options.undo && (options.purge || options.everywhere)) {
    throw new HiError('usage', `Cannot use --undo and ${options.purge ? '--purge' : '--everywhere'} together.`, {
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
  if (!options.yes && !(await confirmCommand(world, questionOf(options)))) return 130;
  const history = await HistoryStore.open({ folder: paths.data, now: world.now });
  let { messages } = history.totals;
  printHistoryNotices(world, history);
  const sharing = wasShared(paths) ? await sharingFor(world, paths, history) : null;
  if (options.everywhere) {
    if (sharing === null)
      throw new HiError('usage', 'The conversation is not shared.', { hint: 'To clear it here, run: hi reset' });
    messages = await sharing.resetEverywhere(options.purge ?? false);
  } else {
    printNotices(world, (await sharing?.beforeReset())?.notices ?? []);
    await history.reset({ purge: options.purge ?? false });
    // Summaries, spilled outputs and remembered inputs hold parts of the conversation.
    if (options.purge) purgeCaches(paths);
  }
  const problems = history.takeNotices();
  printNotices(world, problems);
  const purged = problems.length === 0 ? ' No copy is kept.' : '';
  const note = options.purge ? purged : ' To restore them, run: hi reset --undo';
  const where = sharing === null ? '' : ` ${options.everywhere ? CLEARED_ELSEWHERE : KEPT_ELSEWHERE}`;
  say(
    messages === 0 && !options.everywhere
      ? 'Nothing to clear.'
      : `Cleared ${quantity(messages, 'message')}.${where}${note}`,
  );
  const left = leftByReset(paths);
  if (left !== '') say(left);
  return 0;
}

function questionOf({ purge, everywhere }: ResetOptions): string {
  const where = everywhere ? ' on all machines' : '';
  return purge
    ? `Clear the conversation${where} for good, with no copy?`
    : `Clear the conversation${where}? A copy is kept.`;
}
