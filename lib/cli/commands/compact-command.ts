import type { CompactionReport } from '../../chat/event.js';
import { shortCount } from '../../chat/transcript.js';
import { strategies } from '../../compaction/index.js';
import type { Preview } from '../../compaction/run-strategy.js';
import { HiError, isAbort } from '../../errors.js';
import { pick } from '../../registry.js';
import { Screen } from '../../screen/screen.js';
import { writeJson } from '../base/command-output.js';
import type { CommonOptions } from '../base/options.js';
import { isDumb, outputStreams, printHistoryNotices } from '../base/output.js';
import type { SettingsOptions } from '../base/settings.js';
import type { World } from '../base/world.js';
import { openSession } from '../wiring/wire.js';

interface CompactCommandOptions extends CommonOptions, SettingsOptions {
  readonly strategy?: string;
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** Compacts now, even below the trigger, and reports what was done. */
export async function compactCommand(
  world: World,
  focus: readonly string[],
  options: CompactCommandOptions,
): Promise<number> {
  const strategy = options.strategy === undefined ? null : pick(strategies, options.strategy, 'strategy', 'usage').name;
  const stop = new AbortController();
  const release = world.onStop(() => stop.abort());
  const { session } = await openSession(world, options);
  printHistoryNotices(world, session.history);
  const order = { focus: focus.length === 0 ? null : focus.join(' '), strategy, all: options.all ?? false };
  if (options.dryRun) {
    release();
    return printPreview(world, options, await session.previewCompaction(order, stop.signal));
  }
  const screen = new Screen(outputStreams(world), {
    quiet: options.quiet ?? false,
    styled: null,
    usage: true,
    thinking: false,
    waiting: !isDumb(world.env),
    now: () => world.now().getTime(),
  });
  let report: CompactionReport | null = null;
  async function* events() {
    report = yield* session.compact(order, stop.signal);
  }
  try {
    await screen.follow(events());
    screen.close();
    if (options.json) writeJson(world.stdout, { compaction: report });
    return 0;
  } catch (thrown) {
    if (!isAbort(thrown)) throw thrown;
    throw new HiError('interrupted', 'Compaction interrupted. The conversation is unchanged.');
  } finally {
    release();
    screen.close();
    printHistoryNotices(world, session.history);
    await session.history.close();
  }
}

/** Prints what would happen, in words or as JSON. */
function printPreview(world: World, options: CompactCommandOptions, preview: Preview | null): number {
  if (options.json) writeJson(world.stdout, { preview });
  else if (preview === null) world.stderr.write('There is nothing to compact.\n');
  else {
    const { strategy, messages_compacted, messages_kept, tokens_before, tokens_kept } = preview;
    const sizes = `${shortCount(tokens_before)} tokens now, ${shortCount(tokens_kept)} kept word for word`;
    world.stdout.write(
      `${strategy}: ${messages_compacted} messages would be compacted, ${messages_kept} kept (${sizes}).\n`,
    );
  }
  return 0;
}
