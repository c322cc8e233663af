import type { ChatEvent, ScreenSettings } from '../../chat/event.js';
import { toJson } from '../../chat/json.js';
import { milliseconds } from '../../chat/text.js';
import { commandFolders, findPaths } from '../../config/paths.js';
import { NoModel, NotConfigured } from '../../config/resolve.js';
import { EXIT_STATUS, HiError, isAbort } from '../../errors.js';
import { statusAfter } from '../../processes.js';
import { Screen } from '../../screen/screen.js';
import { neutralise, neutraliseJson, visibleLine } from '../../screen/text/neutralise.js';
import { QuestionQueue } from '../../servers/question-queue.js';
import type { UserInput } from '../../session/common/deps.js';
import { describeCall, describeResult } from '../../tools/common/tool.js';
import { currentWait } from '../../waits.js';
import { agreeToAll } from '../ask/approve.js';
import { askerOf, onTerminal } from '../ask/asker.js';
import { gatherInput } from '../base/gather-input.js';
import { type ChatOptions, formatOf, type OutputFormat, type SessionOptions, withFresh } from '../base/options.js';
import {
  canApprove,
  canAskInTurn,
  chatTerminal,
  hasColour,
  isDumb,
  leaveWaitsToScreen,
  outputStreams,
  printHistoryNotices,
} from '../base/output.js';
import { applyTheme, inlineImage, screenSettingsOf } from '../base/screen-settings.js';
import { readSettings, requireConfig } from '../base/settings.js';
import { newSettingsWarnings } from '../base/warnings.js';
import type { World } from '../base/world.js';
import { chatCommand } from '../chat/chat.js';
import { withFirstModel } from '../init/first-model.js';
import { mentionedResources } from '../input/from-servers.js';
import { filesMentioned } from '../input/mentions.js';
import { type AskedCommand, askedCommand } from '../input/own-commands.js';
import { sendQueued } from '../input/queued.js';
import { indexSlice } from '../wiring/index-slice.js';
import { withNearestModel } from '../wiring/nearest-model.js';
import { withCost } from '../wiring/price.js';
import type { ServerTools } from '../wiring/tool-wiring.js';
import { openSession, type WiredSession, wire } from '../wiring/wire.js';
import { askModels } from './ask-several.js';
import { openStructure, type Structure } from './structure.js';

/** A question, and the model that is to answer it; null for the one in use. */
interface Asked {
  readonly input: UserInput;
  readonly model: string | null;
}

/** Runs one turn: the answer on stdout, everything else on stderr. Resolves to the exit status. Throws `HiError`s. */
export async function askCommand(world: World, words: readonly string[], options: ChatOptions): Promise<number> {
  const stop = new AbortController();
  let isTerminated = false;
  const release = world.onStop((signal) => {
    isTerminated ||= signal === 'SIGTERM';
    // An answer that waits for another process is kept beside the history.
    if (stop.signal.aborted && currentWait() !== null) process.exit(statusAfter(signal));
    stop.abort();
  });
  try {
    const asked = withWait(words, withFresh(options, world.env));
    const status = await askOnce(world, asked.words, asked.options, stop);
    return isTerminated && status === EXIT_STATUS.interrupted ? EXIT_STATUS.terminated : status;
  } catch (thrown) {
    if (lacksSetUp(thrown) && canSetUp(world, words, options)) {
      release();
      return await chatCommand(world, options, true, words.join(' '));
    }
    throw isTerminated && isAbort(thrown) ? new HiError('terminated', 'Terminated.', { cause: thrown }) : thrown;
  } finally {
    release();
  }
}

/** Whether nothing is configured, or a key is wanting for the server that the environment names. */
const lacksSetUp = (thrown: unknown): boolean =>
  thrown instanceof NotConfigured || (thrown instanceof NoModel && thrown.code === 'key');

/**
 * Whether the set-up can come first, which ends in a chat with the question: on a terminal, for a question of nothing
 * but words.
 */
function canSetUp(world: World, words: readonly string[], options: ChatOptions): boolean {
  const { file = [], files0From, command, extract } = options;
  const isPlain = [...file, files0From, command, extract || undefined].every((one) => one === undefined);
  const isText = formatOf(options) === 'text' && !isStructured(options);
  const isMessage = words.length > 0 && !words.includes('-') && !/^\s*(?:[/!]|""")/.test(words[0] ?? '');
  return isPlain && isText && isMessage && canApprove(world) && chatTerminal(world) === 'full';
}

async function askOnce(
  world: World,
  words: readonly string[],
  options: ChatOptions,
  stop: AbortController,
): Promise<number> {
  const { command } = options;
  if (options.pending) return await askPending(world, options, stop);
  const structure = await structureOf(options, formatOf(options), world.cwd, stop.signal);
  const notify = (text: string): void => void (options.quiet || world.stderr.write(`${text}\n`));
  const gathered = await gather(world, words, options, notify, stop.signal);
  if (options.later) return await keepForLater(world, gathered, options, notify);
  if (options.models !== undefined) return await askModels(world, gathered, options.models, options, stop);
  const screenSettings: ScreenSettings = { wrap: 'word', waiting: 'animated' };
  const screen = await screenFor(world, options, screenSettings);
  const ask = canAskInTurn(world) ? askerOf(onTerminal(world, screen, stop), world) : {};
  const settings = await withFirstModel(world, options, await readSettings(world, options, stop.signal), stop.signal);
  const wired = await wire(world, { ...options, ask, ...longestWait(options) }, settings, requireConfig(settings));
  const { session, config, close } = wired;
  Object.assign(screenSettings, screenSettingsOf(config));
  const leave = (): void => screen.close();
  process.once('exit', leave);
  if (hasColour(world.stdout, world.env)) applyTheme(config, world);
  try {
    const asked =
      command === undefined
        ? { input: await withResources(gathered, words, wired.servers, stop.signal, notify), model: null }
        : await ofOwnCommand(
            { folders: commandFolders(world, settings.paths), name: command, words },
            gathered,
            wired,
            notify,
            stop.signal,
          );
    if (options.all && !(await agreeToAll(world, session, asked.input, options, stop.signal)))
      return EXIT_STATUS.interrupted;
    const notices = [...(await newSettingsWarnings(settings)), ...session.history.takeNotices()];
    leaveWaitsToScreen(world, config);
    const shown = await shownEvents(options, wired, asked, structure, stop.signal);
    return await showAnswer(world, screen, options, notices, shown);
  } catch (thrown) {
    if (structure !== null || options.extract) await showMisfit(world, thrown);
    throw await withNearestModel(thrown, session.target, wired.connections);
  } finally {
    process.off('exit', leave);
    printHistoryNotices(world, session.history);
    const settled = session.restSummaries.settle(stop.signal.aborted ? 0 : SUMMARY_PATIENCE);
    // After an answer nothing is loaded or opened for later searches, unless a piece was just sealed or the index is
    // open anyway.
    if (session.history.sealed > 0 || session.reminders.hasSearched) await indexSlice(session);
    await settled;
    await close();
  }
}

/** Keeps the question until there is a server. */
async function keepForLater(
  world: World,
  question: UserInput,
  { config }: ChatOptions,
  notify: (text: string) => void,
): Promise<number> {
  const { queue } = await findPaths(world.env, config ?? null);
  new QuestionQueue(queue).add(question, world.now());
  notify("Kept. It is asked at the next start of hi chat, or by 'hi ask --pending'.");
  return 0;
}

/** Asks what was kept, in order. The first that cannot be sent stays with all behind it, and its failure is thrown. */
async function askPending(world: World, options: ChatOptions, stop: AbortController): Promise<number> {
  const wired = await openSession(world, { ...options, ...longestWait(options) });
  const { session, settings, close } = wired;
  const queue = new QuestionQueue(settings.paths.queue);
  try {
    for (const queued of queue.list()) {
      const { isBusy } = queue;
      const screen = await screenFor(world, options, screenSettingsOf(wired.config));
      const status = await showAnswer(world, screen, options, [], sendQueued(queued, queue, session, stop.signal));
      if (status !== 0 || isBusy) return status;
    }
    return 0;
  } finally {
    printHistoryNotices(world, session.history);
    await close();
  }
}

/** A day, for `--wait` without a time. */
const LONGEST_WAIT = 24 * 3_600_000;

const TIME = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;

/** How long to wait for the server. */
const longestWait = ({ wait }: ChatOptions): Pick<SessionOptions, 'longestWait'> =>
  wait === undefined ? {} : { longestWait: (wait === true ? null : milliseconds(wait)) ?? LONGEST_WAIT };

/** A word behind `--wait` that is no time belongs to the question. */
function withWait(
  words: readonly string[],
  options: ChatOptions,
): { readonly words: readonly string[]; readonly options: ChatOptions } {
  const { wait } = options;
  if (wait === undefined || wait === true || TIME.test(wait)) return { words, options };
  return { words: [wait, ...words], options: { ...options, wait: true } };
}

/** How long the program waits after the answer for the summary of what left the view, in milliseconds. */
const SUMMARY_PATIENCE = 1600;

/** What is asked, with its files. The words behind a command of the user's own are its arguments. */
async function gather(
  world: World,
  words: readonly string[],
  { command, file: files = [], files0From }: ChatOptions,
  notify: (text: string) => void,
  signal: AbortSignal,
): Promise<UserInput> {
  const isQuestion = command === undefined;
  if (isQuestion && words.some((word) => word.includes('@'))) await tellOfMentions(world, words, files, notify);
  const asked = isQuestion ? words : words.filter((word) => word === '-');
  return await gatherInput(world, { words: asked, files, listFile: files0From ?? null, isQuestion, notify }, signal);
}

/** In a script an `@` is text. Whoever meant a file should know. */
async function tellOfMentions(
  { cwd }: World,
  words: readonly string[],
  files: readonly string[],
  notify: (text: string) => void,
): Promise<void> {
  const names = (await filesMentioned(words.join(' '), files, cwd)).slice(0, MAX_TOLD);
  if (names.length === 0) return;
  const options = names.map((name) => `-f ${/^[\w./~-]+$/.test(name) ? name : `'${name}'`}`).join(' ');
  notify(visibleLine(`Sent as text: ${names.map((name) => `@${name}`).join(', ')}. To attach it, add: ${options}`));
}

/** So many names fit a line. */
const MAX_TOLD = 5;

/** What a command of the user's own asks with these words, and the model it wants. */
async function ofOwnCommand(
  command: AskedCommand,
  gathered: UserInput,
  { tools, connections, servers }: WiredSession,
  notify: (text: string) => void,
  signal: AbortSignal,
): Promise<Asked> {
  const deps = { tools, secrets: () => connections.secrets(), resource: servers.resource.bind(servers) };
  const { unrun, ...asked } = await askedCommand(command, gathered, deps, signal);
  if (unrun !== null) notify(unrun);
  return asked;
}

/**
 * Sends the question. Resolves to the events that the user is to see: of an answer that must fit, with its price, with
 * only its last block of code.
 */
async function shownEvents(
  options: ChatOptions,
  { session }: WiredSession,
  { input, model }: Asked,
  structure: Structure | null,
  signal: AbortSignal,
): Promise<AsyncIterable<ChatEvent>> {
  const turn = { model, whole: options.all ?? false };
  const events =
    structure === null
      ? session.send(input, signal, turn)
      : (await import('./ask-structured.js')).askStructured(session, input, structure, turn, signal);
  const isForPrograms = formatOf(options) !== 'text';
  const seen = isForPrograms ? withView(events, session) : events;
  const priced = options.usage || isForPrograms ? withCost(seen, () => session.history.now()) : seen;
  return options.extract ? (await import('./ask-structured.js')).lastBlock(priced) : priced;
}

/** The same events, with what the last request consisted of added to `turn-end`. */
async function* withView(
  events: AsyncIterable<ChatEvent>,
  session: WiredSession['session'],
): AsyncGenerator<ChatEvent> {
  for await (const event of events) {
    // Also of an answer that was interrupted.
    const view = event.type === 'turn-end' ? await session.sentView(new AbortController().signal) : null;
    yield view === null || event.type !== 'turn-end' ? event : { ...event, view };
  }
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
  return await openStructure({ text, isList: schema === undefined, needsTools: Array.isArray(tools) }, cwd, signal);
}

/** Writes an answer that does not fit on stderr. */
async function showMisfit({ stderr }: World, thrown: unknown): Promise<void> {
  const { MisfitError } = await import('./ask-structured.js');
  if (thrown instanceof MisfitError && thrown.answer.trim() !== '')
    stderr.write(`${neutralise(thrown.answer).trimEnd()}\n`);
}

async function screenFor(world: World, options: ChatOptions, settings: ScreenSettings): Promise<Screen> {
  const streams = outputStreams(world);
  const isStyled = streams.colour.out || (streams.outIsTerminal && !isDumb(world.env));
  const showImage = inlineImage(world);
  return new Screen(streams, {
    quiet: options.quiet ?? false,
    styled: isStyled ? (await import('../../screen/answer-writer.js')).StyledAnswerWriter : null,
    settings,
    thinking: streams.outIsTerminal && formatOf(options) === 'text',
    usage: options.usage ?? false,
    sources: formatOf(options) === 'text',
    ...(showImage !== null && { inlineImage: showImage }),
    exact: options.raw ?? false,
    describe: (name, args) => describeCall({ name, args }),
    found: describeResult,
    waiting: !isDumb(world.env),
    now: () => world.now().getTime(),
  });
}

/** Shows the events of a turn in the chosen format. Resolves to the exit status. */
async function showAnswer(
  world: World,
  screen: Screen,
  options: ChatOptions,
  notices: readonly string[],
  events: AsyncIterable<ChatEvent>,
): Promise<number> {
  const format = formatOf(options);
  let status = 0;
  // An answer in JSON is shown once it is whole and fits.
  const hidden: readonly string[] = format === 'text' && !isStructured(options) ? [] : ['text', 'citation'];
  async function* watched(): AsyncGenerator<ChatEvent> {
    for await (const event of options.stream ? events : inOnePiece(events)) {
      if (event.type !== 'print' && (format === 'stream-json' || (format === 'json' && event.type === 'turn-end')))
        await printJson(world, event, format);
      if (event.type === 'turn-end' && event.stop_reason === 'interrupted') status = EXIT_STATUS.interrupted;
      if (!hidden.includes(event.type) && (format === 'text' || event.type !== 'print')) yield event;
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
    if (event.type === 'citation') continue;
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
  await new Promise<void>((resolve) => void stdout.write(`${neutraliseJson(toJson(line))}\n`, () => resolve()));
}

const isStructured = ({ schema, schemaMulti }: ChatOptions): boolean => (schema ?? schemaMulti) !== undefined;
