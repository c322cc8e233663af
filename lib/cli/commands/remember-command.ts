import { findPaths } from '../../config/paths.js';
import { HiError } from '../../errors.js';
import { HistoryStore } from '../../history/store.js';
import type { CommonOptions } from '../base/command-options.js';
import { printHistoryNotices } from '../base/print-notices.js';
import type { World } from '../base/world.js';
import { openMemory } from '../wiring/open-memory.js';

/** Adds a line to the memory, which is sent with every request. Resolves to the exit status. Throws `HiError`s. */
export async function rememberCommand(world: World, words: readonly string[], options: CommonOptions): Promise<number> {
  const text = words.join(' ');
  if (text.trim() === '') throw new HiError('usage', 'No text given.', { hint: 'Run: hi remember TEXT' });
  const paths = await findPaths(world.env, options.config ?? null);
  const history = await HistoryStore.open({ folder: paths.data, now: world.now });
  try {
    const { file, origin } = await openMemory(paths.memory, history, world.now);
    const { kind } = await file.keep(text, origin('user'));
    printHistoryNotices(world, history);
    const said = kind === 'known' ? 'Already remembered.' : `Remembered in '${paths.memory}'.`;
    if (!options.quiet) world.stderr.write(`${said}\n`);
    return 0;
  } finally {
    await history.close();
  }
}
