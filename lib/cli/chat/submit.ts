import type { ChatEvent } from '../../chat/event.js';
import { HiError } from '../../errors.js';
import { pick } from '../../registry.js';
import type { Repl, SubmittedLine } from '../../repl/repl.js';
import type { UserInput } from '../../session/deps.js';
import { checkArgument } from '../../slash/check-argument.js';
import type { SlashCommand, SlashContext } from '../../slash/command.js';
import { type Line, parseLine } from '../../slash/parse.js';
import type { ToolContext } from '../../tools/tool.js';
import { runLocally } from './local-command.js';
import { resolveMentions } from './mentions.js';

/** What a line can reach. */
export interface SubmitDeps {
  readonly context: SlashContext;
  readonly tools: ToolContext;
  readonly repl: Pick<Repl, 'prefill' | 'restoreInput' | 'quit'>;
  /** The keys that a command's output must not show. */
  secrets(): Promise<readonly string[]>;
  /** Shows a line about the message before it is sent. */
  notify(notice: string): void;
  /** Runs a command that has the terminal to itself. */
  runCommand(command: string): Promise<void>;
}

/**
 * Acts on one line: a message, a slash command, or a command of the user's own. Resolves to what happens for the screen; throws `HiError`s.
 * An answer's events are the session's own and pass nobody in between, for there are tens of thousands.
 */
export async function submitLine(
  line: SubmittedLine,
  deps: SubmitDeps,
  signal: AbortSignal,
): Promise<AsyncIterable<ChatEvent>> {
  const meant = meaningOf(line);
  switch (meant.kind) {
    case 'empty':
      return nothing();
    case 'shell':
      if (meant.command === '') throw new HiError('usage', 'There is no command to run.', { hint: 'Type: !ls' });
      return runShell(meant.command, meant.shared, deps, signal);
    case 'command': {
      const command = pick(deps.context.commands, meant.name, 'command', 'usage');
      const argument = argumentOf(line, meant.name);
      checkArgument(command, argument);
      return runCommand(command, argument, deps, signal);
    }
    case 'message':
      return deps.context.session.send(await inputOf(line, deps, signal), signal);
  }
}

/** The message with what it mentions. What cannot be attached is refused with the message, which is not lost. */
async function inputOf(
  line: SubmittedLine,
  { tools, notify, repl }: SubmitDeps,
  signal: AbortSignal,
): Promise<UserInput> {
  const { text, pasted } = messageOf(line);
  try {
    const { input, notice } = await resolveMentions(text, pasted, tools.workingFolder, signal);
    if (notice !== null) notify(notice);
    return input;
  } catch (thrown) {
    repl.restoreInput();
    throw thrown;
  }
}

/** What was pasted in several lines is a message, however it begins: a command is typed, or pasted as the one line that can be seen. */
function meaningOf(line: SubmittedLine): Line {
  const start = line.text.search(/\S/);
  const beginning = line.pasted.find((span) => span.start <= start && start < span.end);
  const isText = beginning !== undefined && line.text.slice(beginning.start, beginning.end).trim().includes('\n');
  return isText ? { kind: 'message' } : parseLine(line.shown);
}

/**
 * The words of a message: without the blanks that were typed around it, and a doubled slash that was typed at the beginning is one.
 * What was pasted, or stands in a block, stays as it is.
 */
function messageOf({ shown, text, pasted }: SubmittedLine): Pick<SubmittedLine, 'text' | 'pasted'> {
  if (shown.trimStart().startsWith('"""')) return { text, pasted };
  const isTypedBlank = (at: number): boolean =>
    /\s/.test(text.charAt(at)) && !pasted.some(({ start, end }) => start <= at && at < end);
  let start = 0;
  let stop = text.length;
  while (start < stop && isTypedBlank(start)) start += 1;
  while (stop > start && isTypedBlank(stop - 1)) stop -= 1;
  const isPasted = pasted.some((span) => span.start <= start && start < span.end);
  if (!isPasted && shown.trimStart().startsWith('//')) start += 1;
  const moved = pasted.map((span) => ({ start: span.start - start, end: span.end - start }));
  return { text: text.slice(start, stop), pasted: moved };
}

async function* nothing(): AsyncGenerator<ChatEvent> {}

/** The argument with its long pastes replaced. */
function argumentOf({ text }: SubmittedLine, name: string): string {
  const trimmed = text.trim();
  return trimmed.slice(trimmed.indexOf(name) + name.length).trim();
}

async function* runCommand(
  command: SlashCommand,
  argument: string,
  deps: SubmitDeps,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent> {
  for await (const event of command.run(argument, deps.context, signal)) {
    if (event.type === 'leave') deps.repl.quit();
    else if (event.type === 'prefill') deps.repl.prefill(event.text);
    else if (event.type === 'print') yield { ...event, text: `${event.text}\n` };
    else yield event;
  }
  // A command may be the first to meet a damaged file.
  for (const text of deps.context.session.history.takeNotices()) yield { type: 'notice', level: 'warning', text };
}

async function* runShell(
  command: string,
  kept: boolean,
  deps: SubmitDeps,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent> {
  if (!kept) return await deps.runCommand(command);
  const told = yield* runLocally(command, deps.tools, await deps.secrets(), signal);
  await deps.context.session.note(told);
}
