import { findPaths, wasShared } from '../../config/paths.js';
import { HiError } from '../../errors.js';
import { HistoryStore } from '../../history/store.js';
import { readMemory } from '../../memory/memory-file.js';
import { linesOf, MEMORY_LIMIT, type MemoryLine, sentMemory } from '../../memory/memory-text.js';
import { neutralise } from '../../screen/text/neutralise.js';
import { colours, writeJson } from '../base/command-output.js';
import type { CommonOptions } from '../base/options.js';
import { printHistoryNotices, printNotices } from '../base/output.js';
import type { World } from '../base/world.js';
import { openMemory } from '../wiring/open-memory.js';
import { sharingFor } from '../wiring/sharing.js';

interface MemoryOptions extends CommonOptions {
  readonly json?: boolean;
}

/**
 * Prints the memory, and on a terminal the origin of each line. Resolves to the exit status. Throws a `HiError` if it
 * cannot be read.
 */
export async function memoryCommand(world: World, options: MemoryOptions): Promise<number> {
  const { stdout, stderr } = world;
  const { memory } = await findPaths(world.env, options.config ?? null);
  const source = readMemory(memory);
  const lines = linesOf(source);
  const { text, tokens, leftOutFrom } = sentMemory(source);
  if (options.json) {
    writeJson(stdout, lines.map(asJson), 2);
  } else if (stdout.isTTY) {
    const { dim } = colours(world);
    for (const line of lines) stdout.write(`${neutralise(line.text)}${dim(originOf(line))}\n`);
  } else if (text !== '') stdout.write(`${text}\n`);
  if (options.quiet) return 0;
  if (lines.length === 0) stderr.write('Nothing is remembered. To add a line, run: hi remember TEXT\n');
  else stderr.write(`${tokens} of ${MEMORY_LIMIT} tokens, in '${memory}'.\n`);
  if (leftOutFrom !== null)
    stderr.write(`Line ${leftOutFrom} and everything after it is not sent: it is beyond the limit.\n`);
  return 0;
}

const asJson = ({ line, text, origin }: MemoryLine): object => ({
  line,
  text,
  by: origin?.by ?? null,
  ...(origin?.foreign === true && { foreign: true }),
  at: origin?.at ?? null,
  id: origin?.id ?? null,
});

/** Who said a line, the day and the message: `  user, 2026-11-23, #12`. */
function originOf({ origin }: MemoryLine): string {
  if (origin === null) return '';
  const day = new Date(origin.at).toLocaleDateString('sv');
  const said = origin.foreign ? `${origin.by} after reading foreign content` : origin.by;
  return `  ${[said, day, ...(origin.id === null ? [] : [`#${origin.id}`])].join(', ')}`;
}

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
    const sharing = wasShared(paths) ? await sharingFor(world, paths, history) : null;
    printNotices(world, (await sharing?.giveOut())?.notices ?? []);
    return 0;
  } finally {
    await history.close();
  }
}
