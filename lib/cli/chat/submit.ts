import type { ChatEvent } from '../../chat/event.js';
import { estimateTokens } from '../../chat/request.js';
import { percent, quantity } from '../../chat/text.js';
import { HiError, isAbort } from '../../errors.js';
import { pick } from '../../registry.js';
import { beginsWithPastedLines } from '../../repl/editing/long-pastes.js';
import type { Repl, SubmittedLine } from '../../repl/repl.js';
import type { UserInput } from '../../session/common/deps.js';
import type { FileInput } from '../../session/input.js';
import type { SlashContext } from '../../slash/common/command.js';
import { checkArgument, type Line, parseLine } from '../../slash/common/line.js';
import type { ToolContext } from '../../tools/common/tool.js';
import { OutputEnds, runLocally } from '../input/local-command.js';
import { type MentionDeps, resolveMentions } from '../input/mentions.js';

/** What acting on a line needs. */
export interface SubmitDeps {
  readonly context: SlashContext;
  readonly tools: ToolContext;
  readonly repl: Pick<Repl, 'prefill' | 'restoreInput' | 'quit'>;
  /** The keys that a command's output must not show. */
  secrets(): Promise<readonly string[]>;
  /** Whether only the first and last lines of long command output are shown. */
  readonly showsEnds: boolean;
  /** Shows a line about the message before it is sent. */
  notify(notice: string): void;
  /** Fetches a web address. */
  fetch(address: string, signal: AbortSignal): Promise<FileInput>;
  /** Finds the MCP resource that a mention names. */
  readonly resource: NonNullable<MentionDeps['resource']>;
  /** Keeps a question that could not be sent, for later. Returns what to tell the user; null if it is not kept. */
  keep(input: UserInput, failure: unknown): string | null;
  /** Runs a command in the foreground. */
  runCommand(command: string): Promise<void>;
}

/**
 * Acts on one line: a message, a slash command, or a shell command. Resolves to the events for the screen. Throws
 * `HiError`s. The events of an answer come straight from the session, for there are tens of thousands.
 */
export async function submitLine(
  line: SubmittedLine,
  deps: SubmitDeps,
  signal: AbortSignal,
): Promise<AsyncIterable<ChatEvent>> {
  const parsed = parseSubmitted(line);
  const later = (input: UserInput) => (failure: unknown) => {
    const kept = deps.keep(input, failure);
    if (kept === null) deps.repl.restoreInput('');
    return kept;
  };
  switch (parsed.kind) {
    case 'empty':
      return noEvents();
    case 'shell':
      return runShell(parsed.command, parsed.shared, deps, signal);
    case 'command':
      return runCommand(parsed.name, line, deps, signal);
    case 'message': {
      const input = await inputOf(line, deps, signal);
      return deps.context.session.send(input, signal, { undelivered: later(input) });
    }
  }
}

/**
 * The message with the files it mentions. When one cannot be attached, the whole message goes back into the prompt,
 * with the cursor at that one.
 */
async function inputOf(
  line: SubmittedLine,
  { tools, notify, repl, fetch, resource }: SubmitDeps,
  signal: AbortSignal,
): Promise<UserInput> {
  const { text, pasted } = trimmed(line);
  let attaching = '';
  const begin = (word: string): void => {
    attaching = word;
  };
  const deps = { begin, resource, fetch: (address: string) => fetch(address, signal) };
  try {
    const { input, notice } = await resolveMentions(text, pasted, tools.cwd.now, signal, deps);
    if (notice !== null) notify(notice);
    return input;
  } catch (thrown) {
    repl.restoreInput(attaching);
    throw thrown;
  }
}

/**
 * A paste of several lines is a message, however it begins: a command is typed, or pasted as a single line that the
 * user sees.
 */
function parseSubmitted(line: SubmittedLine): Line {
  return beginsWithPastedLines(line.text, line.pasted) ? { kind: 'message' } : parseLine(line.shown);
}

/**
 * A message without the white space typed around it; a double slash typed at the start becomes one. A paste and a `"""`
 * block stay as they are.
 */
function trimmed({ shown, text, pasted }: SubmittedLine): Pick<SubmittedLine, 'text' | 'pasted'> {
  if (shown.trimStart().startsWith('"""')) return { text, pasted };
  const isTypedSpace = (at: number): boolean =>
    /\s/.test(text.charAt(at)) && !pasted.some(({ start, end }) => start <= at && at < end);
  let start = 0;
  let stop = text.length;
  while (start < stop && isTypedSpace(start)) start += 1;
  while (stop > start && isTypedSpace(stop - 1)) stop -= 1;
  const isPasted = pasted.some((span) => span.start <= start && start < span.end);
  if (!isPasted && shown.trimStart().startsWith('//')) start += 1;
  const moved = pasted.map((span) => ({ start: span.start - start, end: span.end - start }));
  return { text: text.slice(start, stop), pasted: moved };
}

async function* noEvents(): AsyncGenerator<ChatEvent> {}

/** The argument, with the text of its long pastes. */
function argumentOf({ text }: SubmittedLine, name: string): string {
  return text.slice(text.indexOf(name) + name.length).trim();
}

/**
 * A command that fails, such as a mistyped one, goes back into the prompt, and so does one that was interrupted before
 * it did anything.
 */
async function* runCommand(
  name: string,
  line: SubmittedLine,
  deps: SubmitDeps,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent> {
  let hasBegun = false;
  try {
    const command = pick(deps.context.commands, name, 'command', 'usage', '/help lists them all.');
    const argument = argumentOf(line, name);
    checkArgument(command, argument);
    for await (const event of command.run(argument, deps.context, signal)) {
      hasBegun = true;
      if (event.type === 'leave') deps.repl.quit();
      else if (event.type === 'prefill') deps.repl.prefill(event.text);
      else if (event.type === 'print') yield { ...event, text: `${event.text}\n` };
      else yield event;
    }
  } catch (thrown) {
    if (!isAbort(thrown) || !hasBegun) deps.repl.restoreInput('');
    throw thrown;
  }
  // A command may be the first to find a damaged file.
  for (const text of deps.context.session.history.takeNotices()) yield { type: 'notice', level: 'warning', text };
}

async function* runShell(
  command: string,
  shared: boolean,
  deps: SubmitDeps,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent> {
  if (command === '') throw new HiError('usage', 'No command given.', { hint: 'Type: !ls' });
  if (!shared) return await deps.runCommand(command);
  const { session } = deps.context;
  const ends = deps.showsEnds ? new OutputEnds() : null;
  const report = yield* runLocally(command, deps.tools, await deps.secrets(), signal, ends);
  if (report === null) {
    signal.throwIfAborted();
    await deps.runCommand(command);
    return yield { type: 'notice', level: 'info', text: 'It used the whole screen: nothing was added.' };
  }
  const { text, printed } = report;
  try {
    await session.note(text);
  } catch (thrown) {
    if (isAbort(thrown)) deps.notify('Nothing was added: another hi holds the lock.');
    throw thrown;
  }
  if (printed > 0) yield { type: 'notice', level: 'info', text: addedLine(printed, session.target.context_window) };
}

/** `· 30,000 characters added (6% of the window)`. */
function addedLine(characters: number, contextWindow: number): string {
  const share = estimateTokens(characters) / contextWindow;
  const part = share < 0.005 ? '' : ` (${percent(share)} of the window)`;
  return `· ${quantity(characters, 'character')} added${part}`;
}
