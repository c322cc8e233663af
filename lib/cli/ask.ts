import type { ChatEvent } from '../chat/event.js';
import { EXIT_STATUS } from '../errors.js';
import { createScreen } from '../screen/show.js';
import { describeCall } from '../tools/describe-call.js';
import { approver } from './approve.js';
import { gatherInput } from './input.js';
import type { ChatOptions, OutputFormat } from './options.js';
import { paperOf } from './paper.js';
import { notYetGiven } from './warn-once.js';
import { openSession } from './wire.js';
import type { World } from './world.js';

/** One turn: the answer on stdout, everything else on stderr. Resolves to the exit status; throws `HiError`s. */
export async function ask(world: World, words: readonly string[], options: ChatOptions): Promise<number> {
  const stop = new AbortController();
  const release = world.onStop(() => stop.abort());
  try {
    const input = await gatherInput(world, words, options.file ?? []);
    const approve = approver(world);
    const { session, settings } = await openSession(world, { ...options, ...(approve === null ? {} : { approve }) });
    try {
      const warnings = await notYetGiven(settings.warnings, settings.paths.cache);
      const notices = [...warnings, ...session.history.notices];
      return await show(world, options, notices, session.send(input, stop.signal));
    } finally {
      await session.history.close();
    }
  } finally {
    release();
  }
}

/** Shows the events of a turn in the asked form and resolves to the exit status. */
async function show(
  world: World,
  options: ChatOptions,
  notices: readonly string[],
  events: AsyncIterable<ChatEvent>,
): Promise<number> {
  const format: OutputFormat = options.json ? 'json' : options.outputFormat;
  const paper = paperOf(world);
  const screen = createScreen(paper, {
    quiet: options.quiet ?? false,
    styled: paper.colour.out ? (await import('../screen/styled-answer.js')).createStyledAnswer : null,
    thinking: paper.outIsTerminal && format === 'text',
    usage: options.usage ?? false,
    exact: true,
    describe: (name, args) => describeCall({ name, args }),
    now: () => world.now().getTime(),
  });
  let status = 0;
  async function* watched(): AsyncGenerator<ChatEvent> {
    for await (const event of options.stream ? events : whole(events)) {
      if (format === 'stream-json' || (format === 'json' && event.type === 'turn-end'))
        await printJson(world, event, format);
      if (event.type === 'turn-end' && event.stop_reason === 'interrupted') status = EXIT_STATUS.interrupted;
      if (format === 'text' || event.type !== 'text') yield event;
    }
  }
  try {
    for (const notice of notices) screen.notice(notice, 'warning');
    await screen.follow(watched());
  } finally {
    screen.close();
    await screen.flush();
  }
  return status;
}

/** The same events with the answer in one piece. */
async function* whole(events: AsyncIterable<ChatEvent>): AsyncGenerator<ChatEvent> {
  let text = '';
  for await (const event of events) {
    if (event.type === 'text') {
      text += event.text;
      continue;
    }
    if (text !== '') yield { type: 'text', text };
    text = '';
    yield event;
  }
}

async function printJson({ stdout }: World, event: ChatEvent, format: OutputFormat): Promise<void> {
  const { type, ...report } = event;
  const line = format === 'json' ? report : { type: type === 'turn-end' ? 'result' : type, ...report };
  // A closed pipe is no error here, and whoever reads slowly is waited for.
  await new Promise<void>((resolve) => void stdout.write(`${JSON.stringify(line)}\n`, () => resolve()));
}
