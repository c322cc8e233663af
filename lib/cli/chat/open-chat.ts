import type { ScreenSettings } from '../../chat/event.js';
import type { CompletableCommand, Repl } from '../../repl/repl.js';
import { createRepl } from '../../repl/terminal-repl.js';
import { type OutputStreams, Screen } from '../../screen/screen.js';
import { StyledAnswerWriter } from '../../screen/styled-answer-writer.js';
import type { SlashContext } from '../../slash/common/command.js';
import { describeCall } from '../../tools/common/describe-call.js';
import { describeResult } from '../../tools/common/describe-result.js';
import { type ChatOptions, withFresh } from '../base/command-options.js';
import { showHistoryProgress } from '../base/history-progress.js';
import { requireConfig, type Settings } from '../base/settings.js';
import { isDumb, outputStreams } from '../base/streams.js';
import { webInput } from '../base/web-input.js';
import type { World } from '../base/world.js';
import { runInForeground } from '../input/local-command.js';
import { applyTheme } from '../terminal/apply-theme.js';
import { inlineImage } from '../terminal/inline-image.js';
import { screenSettingsOf } from '../terminal/screen-settings-of.js';
import { type WiredSession, wire } from '../wiring/wire.js';
import { withCost } from '../wiring/with-cost.js';
import { attentionOf } from './attention.js';
import { ChatPrompt } from './chat-prompt.js';
import { questionsOfCommands, questionsOfTurn } from './chat-questions.js';
import { type ChatTerminal, chatTerminal } from './chat-terminal.js';
import { pastedImage } from './clipboard-image.js';
import { slashContext } from './slash-context.js';
import { type SubmitDeps, submitLine } from './submit.js';
import { WindowUsage } from './window-usage.js';

/** The parts of a chat. */
export interface Chat {
  readonly wired: WiredSession;
  readonly screen: Screen;
  readonly repl: Repl;
  readonly usage: WindowUsage;
}

/** Creates a session, the screen that shows it and the REPL that reads its input. Throws `HiError`s of codes `config` and `history`. */
export async function openChat(world: World, given: ChatOptions, settings: Settings): Promise<Chat> {
  const terminal = chatTerminal(world);
  const streams = terminal === 'full' ? outputStreams(world) : withoutColour(outputStreams(world));
  const config = requireConfig(settings);
  const options = withFresh({ ...given, usage: given.usage || config.show_usage }, world.env);
  const screenSettings = screenSettingsOf(config);
  // The REPL does not exist yet; these functions use it only while a line is processed.
  const later = (): Repl => repl;
  const screen = chatScreen(world, options, terminal, streams, screenSettings, () => later().attributes());
  const asked = terminal === 'full' ? questionsOfTurn(world, later) : {};
  const wired = await wire(
    world,
    { ...options, ...asked, listens: true, idles: terminal === 'full' },
    settings,
    config,
  );
  const usage = new WindowUsage(wired.session);
  const questions = questionsOfCommands(later, terminal, options.yes ?? false);
  const context = await slashContext(world, wired, later, questions, screenSettings);
  const prompt = new ChatPrompt(wired, usage);
  const repl: Repl = createRepl({
    stdin: world.stdin,
    terminal: world.stdout,
    isDumb: isDumb(world.env),
    colour: streams.colour.out,
    screen,
    prompt: () => prompt.next(),
    submit(line, signal) {
      prompt.leave();
      if (terminal === 'full' && !options.quiet) showHistoryProgress(world);
      const events = submitLine(line, submitDeps(world, terminal, context, { wired, screen, repl, usage }), signal);
      return options.usage ? events.then((all) => withCost(all, wired.connections)) : events;
    },
    get commands() {
      return completableCommands(context);
    },
    mentionable: () =>
      wired.servers.mentionable().map(({ typed, isTemplate }) => ({ text: typed, isOpen: isTemplate })),
    escapeCommand: '/rewind',
    keepsInputs: () => !wired.session.history.isOffRecord,
    inputHistoryFile: options.ephemeral ? null : settings.paths.inputHistory,
    longPaste: wired.config.input.long_paste,
    editor: world.env.VISUAL || world.env.EDITOR || null,
    background: terminal === 'full' && streams.colour.out ? applyTheme(config, world) : null,
    attention: attentionOf(config, world.env),
    title: config.title && streams.links === true ? 'hi' : null,
    showsTypedAhead: !config.screen_reader,
    pasteImage: async () => await pastedImage(world),
    modalKeys: config.keys === 'vi' ? new (await import('../../repl/editing/vi-keys.js')).ViKeys() : null,
    cwd: wired.tools.cwd,
    home: world.home,
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

function completableCommands(context: SlashContext): readonly CompletableCommand[] {
  return context.commands.map(({ name, aliases, summary, complete }) => ({
    name,
    summary,
    ...(aliases === undefined ? {} : { aliases }),
    ...(complete === undefined ? {} : { complete: (typed: string) => complete(typed, context) }),
  }));
}
