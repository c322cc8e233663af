import { rmSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { quantity } from '../../chat/text.js';
import type { Paths } from '../../config/paths.js';
import { historyPathsIn } from '../../history/base/history-paths.js';
import { conflictCopies } from '../../history/file/log-file.js';
import { HistoryStore } from '../../history/store.js';
import { neutralise } from '../../screen/text/neutralise.js';
import { joinHistory } from '../../share/joining.js';
import { printHistoryNotices } from '../base/output.js';
import type { World } from '../base/world.js';

interface JoinOptions {
  readonly theirs?: boolean;
  readonly dryRun?: boolean;
  readonly conflicts?: boolean;
  readonly quiet?: boolean;
  readonly json?: boolean;
}

/** What one history brought, in turns. */
export interface Joined {
  readonly history: string;
  readonly turns: number;
  readonly added: number;
}

/**
 * Joins histories of hi to the conversation, and with `--conflicts` the copies that a syncer left, which are removed
 * then. Prints what each brought, except as JSON.
 */
export async function joinHistories(
  world: World,
  { data }: Paths,
  given: readonly string[],
  { theirs = false, dryRun = false, conflicts = false, quiet, json }: JoinOptions,
): Promise<readonly Joined[]> {
  const joined: Joined[] = [];
  const history = await HistoryStore.open({ folder: data, now: world.now });
  // Opening may have added an answer that was kept in one.
  const copies = conflicts ? conflictCopies(historyPathsIn(data)) : [];
  if (conflicts && copies.length === 0 && !quiet) world.stderr.write('There are no conflict copies.\n');
  try {
    for (const path of [...given.map((one) => resolve(world.cwd, one)), ...copies]) {
      const { turns, added } = await joinHistory(history, data, path, { isTheirs: theirs, isDry: dryRun });
      joined.push({ history: path, turns, added });
      const verb = dryRun ? 'would be' : added === 1 ? 'is' : 'are';
      const news = added === 0 ? 'nothing is new' : `${added} ${verb} new`;
      if (!json) world.stdout.write(`${neutralise(`${basename(path)}: ${quantity(turns, 'turn')}; ${news}.`)}\n`);
      if (copies.includes(path) && !dryRun) rmSync(path);
    }
    printHistoryNotices(world, history);
    return joined;
  } finally {
    await history.close();
  }
}
