import { existsSync } from 'node:fs';
import { EXIT_STATUS } from '../../errors.js';
import { loadCodec } from '../../history/file/frames.js';
import { createRepl } from '../../repl/create-repl.js';
import type { Repl } from '../../repl/repl.js';
import { createScreen, type OutputStreams } from '../../screen/screen.js';
import { createStyledAnswerWriter } from '../../screen/styled-answer-writer.js';
import type { Session } from '../../session/session.js';
import type { SlashContext } from '../../slash/command.js';
import { slashCommands } from '../../slash/index.js';
import { describeCall } from '../../tools/describe-call.js';
import type { ChatOptions } from '../base/command-options.js';
import { newWarnings } from '../base/new-warnings.js';
import { printHistoryNotices } from '../base/print-notices.js';
import { readSettings, requireConfig, type Settings } from '../base/settings.js';
import { isDumb, outputStreams } from '../base/streams.js';
import type { World } from '../base/world.js';
import { copyText } from '../chat/clipboard.js';
import { createConfirm } from '../chat/confirm.js';
import { detectedProviderNotice, isProviderUnset } from '../chat/detected-provider.js';
import { expandPath, writeFileAtomically } from '../chat/export-file.js';
import { greeting, lastExchange, promptText } from '../chat/greeting.js';
import { runInForeground } from '../chat/run-in-foreground.js';
import { submitLine } from '../chat/submit.js';
import { askApproval } from '../wiring/approve.js';
import { type WiredSession, wire } from '../wiring/wire.js';

/**
 * The REPL; on a terminal without a configuration the set-up comes first. Resolves to the exit status.
 * `first` is what nobody asked for by name, plain `hi`: its set-up comes first also where a key in the environment or Ollama would do.
 */
export async function chatCommand(world: World, options: ChatOptions, first = false): Promise<number> {
  const isTyped = world.stdinIs === 'terminal' && world.stdout.isTTY === true;
  const terminal = isTyped && !isDumb(world.env);
  // Better to know before the first question than after the last that nothing can be kept.
  loadCodec();
  const settings = await settingsFor(world, options, terminal, first);
  if (settings === null) return EXIT_STATUS.interrupted;
  const streams = terminal ? outputStreams(world) : withoutColour(outputStreams(world));
  const quiet = options.quiet ?? false;
  const now = (): number => world.now().getTime();
  const screen = createScreen(streams, {
    quiet,
    styled: terminal ? createStyledAnswerWriter : null,
    thinking: true,
    waiting: terminal,
    exact: false,
    usage: options.usage ?? false,
    describe: (name, args) => describeCall({ name, args }),
    now,
  });
  const wired: WiredSession = await wire(
    world,
    {
      ...options,
      ...(terminal
        ? {
            approve: (question, signal) =>
              repl.ask((streams) => askApproval(question, { ...streams, signal: either(signal, streams.signal) })),
          }
        : {}),
    },
    settings,
    requireConfig(settings),
  );
  const { session, tools, config } = wired;
  const gauge = new Gauge(session);
  const confirm = createConfirm({
    repl: () => repl,
    obstacle: terminal ? null : isTyped ? 'with TERM=dumb' : 'without a terminal',
    yes: options.yes ?? false,
  });
  const context = commandContext(world, wired, () => repl, confirm);
  const repl: Repl = createRepl({
    stdin: world.stdin,
    terminal: world.stdout,
    isDumb: isDumb(world.env),
    colour: streams.colour.out,
    screen,
    prompt: async () => promptText(await gauge.read()),
    submit(line, signal) {
      gauge.expire();
      return submitLine(
        line,
        {
          context,
          tools,
          secrets: () => wired.connections.secrets(),
          prefill: (text) => repl.prefill(text),
          giveBack: () => repl.giveBack(),
          tell: (notice) => screen.notice(notice, 'info'),
          quit: () => repl.quit(),
          runAlone(command) {
            const run = (): Promise<void> => runInForeground(command, world, tools.workingFolder);
            return terminal ? repl.lend(run) : run();
          },
        },
        signal,
      );
    },
    commands: slashCommands.map(({ name, aliases, summary, complete }) => ({
      name,
      summary,
      ...(aliases === undefined ? {} : { aliases }),
      ...(complete === undefined ? {} : { complete: (typed: string) => complete(typed, context) }),
    })),
    inputHistoryFile: options.ephemeral ? null : settings.paths.inputHistory,
    longPaste: config.input.long_paste,
    editor: world.env.VISUAL || world.env.EDITOR || null,
    cwd: world.cwd,
    home: world.home,
  });
  const warnings = await newWarnings(settings.warnings, settings.paths.warned);
  for (const notice of [...warnings, ...session.history.takeNotices()]) screen.notice(notice, 'warning');
  if (isTyped && !quiet) {
    const found = detectedProviderNotice(world, options, settings);
    const untold = found === null ? [] : await newWarnings([found], settings.paths.warned);
    for (const notice of untold) screen.notice(notice, 'info');
    screen.notice(greeting(session, await gauge.read()), 'info');
    const last = lastExchange(session.history.view(null).messages);
    if (last !== '') screen.notice(last, 'info');
  }
  await screen.flush();
  try {
    return await repl.run();
  } finally {
    printHistoryNotices(world, session.history);
    await session.history.close();
  }
}

/** The settings; where nothing is configured, those of the set-up. Null when the user left it. */
async function settingsFor(
  world: World,
  options: ChatOptions,
  terminal: boolean,
  first: boolean,
): Promise<Settings | null> {
  const settings = await readSettings(world, options);
  const found = settings.config !== null;
  if (!terminal || (found && !(first && settings.file === null && isProviderUnset(world, options, settings))))
    return settings;
  const { canAsk, init } = await import('../init/init.js');
  if (!canAsk(world)) return settings;
  if ((await init(world, options)) === 0) return await readSettings(world, options);
  if (found) world.stderr.write("To chat with what was found, without a set-up: 'hi chat'.\n");
  return null;
}

/** A script's chat has no colour, whatever the streams are (SPEC §4). */
const withoutColour = (streams: OutputStreams): OutputStreams => ({ ...streams, colour: { out: false, err: false } });

function either(one: AbortSignal, other: AbortSignal): AbortSignal {
  return AbortSignal.any([one, other]);
}

function commandContext(
  world: World,
  { session, tools, connections }: WiredSession,
  repl: () => Repl,
  confirm: SlashContext['confirm'],
): SlashContext {
  return {
    session,
    commands: slashCommands,
    confirm,
    edit: async (text) => {
      const edited = await repl().edit(text);
      return edited === text ? null : edited;
    },
    copy: (text) => copyText(text, world, world.stdout),
    models: (signal) => connections.models(session.target, undefined, signal),
    spending: async () => (await import('../chat/spending.js')).spendingText(connections.spent),
    exists: async (path) => existsSync(expandPath(path, tools.workingFolder, world.home)),
    write: (path, chunks) => writeFileAtomically(expandPath(path, tools.workingFolder, world.home), chunks),
  };
}

/** How full the window is, read anew when an input has been acted on. */
class Gauge {
  readonly #session: Session;
  #used: number | null = null;

  constructor(session: Session) {
    this.#session = session;
  }

  async read(): Promise<number> {
    this.#used ??= (await this.#session.status(new AbortController().signal)).used;
    return this.#used;
  }

  expire(): void {
    this.#used = null;
  }
}
