import type { ChatEvent } from '../../chat/event.js';
import { toJson } from '../../chat/json.js';
import type { ScreenSettings } from '../../chat/screen-settings.js';
import { EXIT_STATUS, HiError, isAbort } from '../../errors.js';
import { Screen } from '../../screen/screen.js';
import type { ScreenOptions } from '../../screen/screen-options.js';
import type { UserInput } from '../../session/common/deps.js';
import { describeCall } from '../../tools/common/describe-call.js';
import { describeResult } from '../../tools/common/describe-result.js';
import type { ChatOptions, OutputFormat } from '../base/command-options.js';
import { gatherInput } from '../base/gather-input.js';
import { newSettingsWarnings } from '../base/new-warnings.js';
import { printHistoryNotices } from '../base/print-notices.js';
import { readSettings, requireConfig } from '../base/settings.js';
import { shownJson, shownText } from '../base/shown.js';
import { canApprove, hasColour, isDumb, outputStreams } from '../base/streams.js';
import type { World } from '../base/world.js';
import { withFirstModel } from '../first-model/first-model.js';
import type { Structure } from '../structured/structure.js';
import { inlinePicture } from '../terminal/inline-picture.js';
import { screenSettingsOf } from '../terminal/screen-settings-of.js';
import type { ServerTools } from '../wiring/server-tools.js';
import { approver, instructionsAsker, serverAsker } from '../wiring/terminal-questions.js';
import { wire } from '../wiring/wire.js';
import { withCost } from '../wiring/with-cost.js';

/** Runs one turn: the answer on stdout, everything else on stderr. Resolves to the exit status. Throws `HiError`s. */
export async function askCommand(world: World, words: readonly string[], options: ChatOptions): Promise<number> {
  const stop = new AbortController();
  let isTerminated = false;
  const release = world.onStop((signal) => {
    isTerminated ||= signal === 'SIGTERM';
    stop.abort();
  });
  try {
    const status = await askOnce(world, words, options, stop);
    return isTerminated && status === EXIT_STATUS.interrupted ? EXIT_STATUS.terminated : status;
  } catch (thrown) {
    throw isTerminated && isAbort(thrown) ? new HiError('terminated', 'Terminated.', { cause: thrown }) : thrown;
  } finally {
    release();
  }
}

async function askOnce(
  world: World,
  words: readonly string[],
  options: ChatOptions,
  stop: AbortController,
): Promise<number> {
  const { command } = options;
  const structure = await structureOf(options, formatOf(options), world.cwd, stop.signal);
  const notify = (text: string): void => void (options.quiet || world.stderr.write(`${text}\n`));
  const gathered = await gather(world, words, options, notify, stop.signal);
  const screenSettings: ScreenSettings = { wrap: 'word', waiting: 'animated' };
  const screen = await screenFor(world, options, screenSettings);
  const approve = canApprove(world)
    ? {
        approve: approver(world, screen, stop),
        askAboutInstructions: instructionsAsker(world, screen, stop),
        elicit: serverAsker(world, screen, stop),
      }
    : {};
  const settings = await withFirstModel(world, options, await readSettings(world, options), stop.signal);
  const { session, config, tools, connections, servers, close } = await wire(
    world,
    { ...options, ...approve },
    settings,
    requireConfig(settings),
  );
  Object.assign(screenSettings, screenSettingsOf(config));
  if (hasColour(world.stdout, world.env)) await (await import('../terminal/apply-theme.js')).applyTheme(config, world);
  try {
    const deps = { tools, secrets: () => connections.secrets(), resource: servers.resource.bind(servers) };
    const { input, model } =
      command === undefined
        ? { input: await withResources(gathered, words, servers, stop.signal, notify), model: null }
        : await (await import('../own-commands/asked-command.js')).askedCommand(
            { folder: settings.paths.commands, name: command, words },
            gathered,
            deps,
            stop.signal,
          );
    const warnings = await newSettingsWarnings(settings);
    const notices = [...warnings, ...session.history.takeNotices()];
    const events =
      structure === null
        ? session.send(input, stop.signal, { model })
        : (await import('../structured/ask-structured.js')).askStructured(
            session,
            input,
            structure,
            model,
            stop.signal,
          );
    const isPriced = options.usage || formatOf(options) !== 'text';
    const priced = isPriced ? withCost(events, connections) : events;
    const shown = options.extract ? (await import('../structured/last-block.js')).lastBlock(priced) : priced;
    return await show(world, screen, options, notices, shown);
  } catch (thrown) {
    if (structure !== null || options.extract) await showMisfit(world, thrown);
    throw thrown;
  } finally {
    printHistoryNotices(world, session.history);
    // After an answer nothing is loaded or opened for later searches, unless a piece was just sealed.
    if (session.history.sealed > 0) await (await import('../chat/index-slice.js')).indexSlice(session);
    await close();
  }
}

/** What is asked, with its files. The words behind a command of the user's own are its arguments. */
async function gather(
  world: World,
  words: readonly string[],
  { command, file: files = [], files0From }: ChatOptions,
  notify: (text: string) => void,
  signal: AbortSignal,
): Promise<UserInput> {
  const isQuestion = command === undefined;
  const asked = isQuestion ? words : words.filter((word) => word === '-');
  return await gatherInput(world, { words: asked, files, listFile: files0From ?? null, isQuestion, notify }, signal);
}

/** With what the words of the command line name of the MCP servers; an `@` in what was piped in is text. */
async function withResources(
  input: UserInput,
  words: readonly string[],
  servers: ServerTools,
  signal: AbortSignal,
  notify: (text: string) => void,
): Promise<UserInput> {
  if (!servers.areThere || words.every((word) => word === '-' || !word.includes('@'))) return input;
  const { mentionedResources } = await import('../from-servers/mentioned-resources.js');
  const found = await mentionedResources(words.join(' '), servers.resource.bind(servers), signal);
  if (found.length > 0) notify(`attached ${found.map(({ label }) => label).join(', ')}`);
  return {
    text: input.text,
    texts: [...found.flatMap(({ texts }) => texts), ...input.texts],
    attachments: [...found.flatMap(({ attachments }) => attachments), ...input.attachments],
  };
}

/** What the answer must be; null when it may be any text. */
async function structureOf(
  { schema, schemaMulti, tools, extract }: ChatOptions,
  format: OutputFormat,
  cwd: string,
  signal: AbortSignal,
): Promise<Structure | null> {
  const text = schema ?? schemaMulti;
  if (extract && (text !== undefined || format !== 'text'))
    throw new HiError('usage', `-x and ${text === undefined ? 'JSON' : '--schema'} cannot be used together.`, {
      hint: 'Leave out one of them.',
    });
  if (text === undefined) return null;
  if (schema !== undefined && schemaMulti !== undefined)
    throw new HiError('usage', '--schema and --schema-multi cannot be used together.', {
      hint: 'Leave out one of them.',
    });
  const { openStructure } = await import('../structured/structure.js');
  return await openStructure({ text, isList: schema === undefined, needsTools: Array.isArray(tools) }, cwd, signal);
}

/** Writes an answer that does not fit on stderr. */
async function showMisfit({ stderr }: World, thrown: unknown): Promise<void> {
  const { MisfitError } = await import('../structured/ask-structured.js');
  if (thrown instanceof MisfitError && thrown.answer.trim() !== '')
    stderr.write(`${shownText(thrown.answer, stderr).trimEnd()}\n`);
}

async function screenFor(world: World, options: ChatOptions, settings: ScreenSettings): Promise<Screen> {
  const streams = outputStreams(world);
  const isStyled = streams.colour.out || (streams.outIsTerminal && !isDumb(world.env));
  return new Screen(streams, {
    quiet: options.quiet ?? false,
    styled: isStyled ? (await import('../../screen/styled-answer-writer.js')).StyledAnswerWriter : null,
    settings,
    thinking: streams.outIsTerminal && formatOf(options) === 'text',
    usage: options.usage ?? false,
    sources: formatOf(options) === 'text',
    ...pictures(world),
    exact: true,
    describe: (name, args) => describeCall({ name, args }),
    found: describeResult,
    waiting: !isDumb(world.env),
    now: () => world.now().getTime(),
  });
}

/** How the screen shows pictures, where the terminal can. */
function pictures(world: World): Pick<ScreenOptions, 'picture'> {
  const picture = inlinePicture(world);
  return picture === null ? {} : { picture };
}

const isStructured = ({ schema, schemaMulti }: ChatOptions): boolean => (schema ?? schemaMulti) !== undefined;

const formatOf = (options: ChatOptions): OutputFormat => (options.json ? 'json' : options.outputFormat);

/** Shows the events of a turn in the chosen format. Resolves to the exit status. */
async function show(
  world: World,
  screen: Screen,
  options: ChatOptions,
  notices: readonly string[],
  events: AsyncIterable<ChatEvent>,
): Promise<number> {
  const format = formatOf(options);
  let status = 0;
  // An answer in JSON is shown once it is whole and fits.
  const hidden = format === 'text' && !isStructured(options) ? null : 'text';
  async function* watched(): AsyncGenerator<ChatEvent> {
    for await (const event of options.stream ? events : inOnePiece(events)) {
      if (event.type !== 'print' && (format === 'stream-json' || (format === 'json' && event.type === 'turn-end')))
        await printJson(world, event, format);
      if (event.type === 'turn-end' && event.stop_reason === 'interrupted') status = EXIT_STATUS.interrupted;
      if (event.type !== hidden && (format === 'text' || event.type !== 'print')) yield event;
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

/** The same events, the answer in one piece. */
async function* inOnePiece(events: AsyncIterable<ChatEvent>): AsyncGenerator<ChatEvent> {
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
  // Waits for a slow reader and ignores a closed pipe.
  await new Promise<void>((resolve) => void stdout.write(`${shownJson(toJson(line), stdout)}\n`, () => resolve()));
}
