import type { ScreenSettings, WrapMode } from '../../chat/event.js';
import type { Config } from '../../config/config.js';
import { NoModel } from '../../config/resolve.js';
import { EXIT_STATUS, isAbort } from '../../errors.js';
import type { CompletableCommand, Repl } from '../../repl/repl.js';
import { createRepl } from '../../repl/terminal-repl.js';
import { type AnswerStyle, StyledAnswerWriter } from '../../screen/answer-writer.js';
import { type OutputStreams, Screen } from '../../screen/screen.js';
import { LONGEST_ROW } from '../../screen/text/styled-text.js';
import { QuestionQueue } from '../../servers/question-queue.js';
import type { SlashContext } from '../../slash/common/command.js';
import { describeCall, describeResult } from '../../tools/common/tool.js';
import { askerOf, inRepl, questionsOfCommands } from '../ask/asker.js';
import { webInput } from '../base/gather-input.js';
import { pastedImage } from '../base/give-out.js';
import { type ChatOptions, withFresh } from '../base/options.js';
import {
  type ChatTerminal,
  chatTerminal,
  isDumb,
  leaveWaitsToScreen,
  outputStreams,
  printHistoryNotices,
  printNotices,
  showHistoryProgress,
} from '../base/output.js';
import { applyTheme, inlineImage, screenSettingsOf } from '../base/screen-settings.js';
import { readSettings, requireConfig, type Settings } from '../base/settings.js';
import { newSettingsWarnings, newWarnings } from '../base/warnings.js';
import type { World } from '../base/world.js';
import { withFirstModel } from '../init/first-model.js';
import { canAsk, init } from '../init/init.js';
import { runInForeground } from '../input/local-command.js';
import { askWaiting, keepForLater } from '../input/queued.js';
import { withCost } from '../wiring/price.js';
import { type WiredSession, wire } from '../wiring/wire.js';
import { ChatPrompt, detectedProviderNotice, greeting, lastExchange, WindowUsage } from './prompt.js';
import { slashContext } from './slash-context.js';
import { type SubmitDeps, submitLine } from './submit.js';

/** The parts of a chat. */
interface Chat {
  readonly wired: WiredSession;
  readonly screen: Screen;
  readonly repl: Repl;
  readonly usage: WindowUsage;
}

/**
 * Creates a session, the screen that shows it and the REPL that reads its input. Throws `HiError`s of codes `config`
 * and `history`.
 */
async function openChat(world: World, given: ChatOptions, settings: Settings, first: string | null): Promise<Chat> {
  const terminal = chatTerminal(world);
  const streams = terminal === 'full' ? outputStreams(world) : withoutColour(outputStreams(world));
  const config = requireConfig(settings);
  const options = withFresh({ ...given, usage: given.usage || config.show_usage }, world.env);
  const screenSettings = screenSettingsOf(config);
  // The REPL does not exist yet; these functions use it only while a line is processed.
  const later = (): Repl => repl;
  const screen = chatScreen(world, options, terminal, streams, screenSettings, () => later().attributes());
  const ask = terminal === 'full' ? askerOf(inRepl(later), world) : {};
  const wired = await wire(world, { ...options, ask, listens: true, idles: terminal === 'full' }, settings, config);
  const usage = new WindowUsage(wired.session);
  const questions = questionsOfCommands(later, terminal, options.yes ?? false);
  const context = await slashContext(world, wired, later, questions, screenSettings);
  const prompt = new ChatPrompt(wired, usage);
  const repl: Repl = createRepl({
    terminal: { input: world.stdin, output: world.stdout, isDumb: isDumb(world.env), colour: streams.colour.out },
    screen,
    prompt: () => prompt.next(),
    first,
    submit(line, signal) {
      prompt.leave();
      if (terminal === 'full' && !options.quiet) showHistoryProgress(world);
      const events = submitLine(line, submitDeps(world, terminal, context, { wired, screen, repl, usage }), signal);
      return options.usage ? events.then((all) => withCost(all, world.now)) : events;
    },
    skipWait: () => wired.session.skipWait(),
    completion: {
      get commands() {
        return completableCommands(context);
      },
      mentionable: () =>
        wired.servers.mentionable().map(({ typed, isTemplate }) => ({ text: typed, isOpen: isTemplate })),
      cwd: wired.tools.cwd,
      home: world.home,
    },
    inputHistory: {
      file: options.ephemeral ? null : settings.paths.inputHistory,
      isKept: () => wired.session.history.isKept,
    },
    editing: {
      modalKeys: config.keys === 'vi' ? new (await import('../../repl/editing/vi-keys.js')).ViKeys() : null,
      longPaste: wired.config.input.long_paste,
      editor: world.env.VISUAL || world.env.EDITOR || null,
      escapeCommand: '/rewind',
      pasteImage: async () => await pastedImage(world),
    },
    window: {
      title: config.title && streams.links === true ? 'hi' : null,
      background: terminal === 'full' && streams.colour.out ? applyTheme(config, world) : null,
      attention: attentionOf(config, world.env),
      showsTypedAhead: !config.screen_reader,
    },
  });
  return { wired, screen, repl, usage };
}

/** A chat that reads a script has no colour, even if its output is a terminal. */
const withoutColour = (streams: OutputStreams): OutputStreams => ({ ...streams, colour: { out: false, err: false } });

function chatScreen(
  world: World,
  options: ChatOptions,
  terminal: ChatTerminal,
  streams: OutputStreams,
  settings: ScreenSettings,
  attributes: () => Promise<string>,
): Screen {
  const showImage = terminal === 'full' ? inlineImage(world, attributes) : null;
  return new Screen(streams, {
    quiet: options.quiet ?? false,
    styled: terminal === 'full' ? StyledAnswerWriter : null,
    settings,
    thinking: terminal === 'none' ? true : 'folded',
    ...(showImage !== null && { inlineImage: showImage }),
    waiting: terminal === 'full',
    gap: terminal === 'full',
    exact: options.raw ?? false,
    separate: !options.raw && terminal === 'none',
    usage: options.usage ?? false,
    describe: (name, args) => describeCall({ name, args }),
    found: describeResult,
    now: () => world.now().getTime(),
  });
}

function submitDeps(
  world: World,
  terminal: ChatTerminal,
  context: SlashContext,
  { wired, screen, repl }: Chat,
): SubmitDeps {
  const { tools, connections, servers } = wired;
  return {
    context,
    tools,
    repl,
    secrets: () => connections.secrets(),
    showsEnds: terminal === 'full',
    notify: (notice) => screen.notice(notice, 'info'),
    resource: (words, signal) => servers.resource(words, signal),
    keep: (input, failure) => {
      const canKeep = terminal === 'full' && wired.session.history.isKept;
      return canKeep ? keepForLater(queueOf(wired), input, failure, world.now()) : null;
    },
    fetch: async (address, signal) => {
      return await webInput(world, address, (notice) => screen.notice(notice, 'info'), signal);
    },
    async runCommand(command) {
      const run = (): Promise<string | null> => runInForeground(command, world, tools.cwd.now);
      const ended = await (terminal === 'full' ? repl.releaseTerminal(run) : run());
      if (ended !== null) screen.notice(ended, 'info');
    },
  };
}

const queueOf = ({ settings }: WiredSession): QuestionQueue => new QuestionQueue(settings.paths.queue);

function completableCommands(context: SlashContext): readonly CompletableCommand[] {
  return context.commands.map(({ name, aliases, summary, complete }) => ({
    name,
    summary,
    ...(aliases === undefined ? {} : { aliases }),
    ...(complete === undefined ? {} : { complete: (typed: string) => complete(typed, context) }),
  }));
}

/**
 * The REPL; on a terminal the set-up comes first where `hi ask` would not work for want of a configuration. Resolves to
 * the exit status. `isDefault` is true for plain `hi`. `first` is asked at once.
 */
export async function chatCommand(
  world: World,
  options: ChatOptions,
  isDefault = false,
  first: string | null = null,
): Promise<number> {
  const settings = await chatSettings(world, options, isDefault);
  if (settings === null) return EXIT_STATUS.interrupted;
  const chat = await openChat(world, options, settings, first);
  const { history, ahead } = chat.wired.session;
  try {
    await showStart(world, options, chat);
    leaveWaitsToScreen(world, chat.wired.config);
    if (chatTerminal(world) === 'full') await askWaiting(world, chat.screen, queueOf(chat.wired), chat.wired.session);
    const status = await chat.repl.run();
    // What was decided since the last answer.
    for await (const event of chat.wired.session.giveOut())
      if (event.type === 'notice') printNotices(world, [event.text]);
    return status;
  } finally {
    ahead.drop();
    printHistoryNotices(world, history);
    await chat.wired.close();
  }
}

/** The settings of a chat. If nothing is configured, the set-up runs first; null if the user leaves it. */
async function chatSettings(world: World, options: ChatOptions, isDefault: boolean): Promise<Settings | null> {
  const settings = await stoppable(world, (signal) => readSettings(world, options, signal));
  if (settings === null) return null;
  if (chatTerminal(world) !== 'full') return settings;
  if (settings.problem instanceof NoModel && settings.empty !== null)
    return await stoppable(world, (signal) => withFirstModel(world, options, settings, signal));
  if (settings.config !== null) return settings;
  // Who types `hi chat` and named a server is shown its error.
  if (settings.problem instanceof NoModel && !isDefault) return settings;
  if (!canAsk(world)) return settings;
  if ((await init(world, options, settings.empty)) === 0) return await readSettings(world, options);
  return null;
}

/** Runs `work` with a signal that aborts when the user leaves; null then. */
async function stoppable(world: World, work: (signal: AbortSignal) => Promise<Settings>): Promise<Settings | null> {
  const stop = new AbortController();
  const release = world.onStop(() => stop.abort());
  try {
    return await work(stop.signal);
  } catch (thrown) {
    if (!isAbort(thrown)) throw thrown;
    return null;
  } finally {
    release();
  }
}

/** Shows what stands before the first prompt: warnings, and on a terminal the greeting and the last exchange. */
async function showStart(world: World, options: ChatOptions, chat: Chat): Promise<void> {
  const { screen, wired } = chat;
  const { settings, session } = wired;
  const warnings = await newSettingsWarnings(settings);
  for await (const event of session.takeIn())
    if (event.type === 'notice' && (event.level === 'warning' || !options.quiet))
      screen.notice(event.text, event.level);
  for (const notice of [...warnings, ...session.history.takeNotices()]) screen.notice(notice, 'warning');
  if (chatTerminal(world) !== 'none' && !options.quiet) {
    for (const line of await startLines(world, options, chat)) screen.notice(line, 'info');
  }
  await screen.flush();
}

/** Half of the screen, less the header and the prompt. */
function roomOf(world: World, { config }: Settings): { readonly rows: number; readonly style: AnswerStyle } {
  const { columns } = outputStreams(world);
  const wrap = (): WrapMode => (config === null ? 'word' : screenSettingsOf(config).wrap);
  const rows = Math.max(2, Math.floor((world.stdout.rows ?? 24) / 2) - 2);
  return { rows, style: { colour: false, links: false, columns: () => Math.min(LONGEST_ROW, columns()), wrap } };
}

async function startLines(world: World, options: ChatOptions, { wired, usage }: Chat): Promise<readonly string[]> {
  const { settings, session } = wired;
  const detected = detectedProviderNotice(world, options, settings);
  return [
    ...(detected === null ? [] : await newWarnings([detected], settings.paths.warned)),
    greeting(session, await usage.read()),
    await lastExchange(session.history.view(null).messages, roomOf(world, settings)),
  ].filter((line) => line !== '');
}

const BELL = '\x07';
const NOTIFICATION = '\x1b]9;hi is waiting for you\x1b\\';

/**
 * The sequence that calls the user back to the terminal, by `notify`: a notification if the terminal is known to show
 * one, else the bell.
 */
function attentionOf({ notify }: Config, env: World['env']): string {
  if (notify === 'off') return '';
  return notify === 'auto' && showsNotifications(env) ? NOTIFICATION : BELL;
}

function showsNotifications({ TERM = '', TERM_PROGRAM = '', ...env }: World['env']): boolean {
  if (env.TMUX || env.STY) return false;
  return ['iTerm.app', 'WezTerm', 'ghostty'].includes(TERM_PROGRAM) || TERM.startsWith('xterm-kitty');
}
