import type { UserInput } from '../../session/common/deps.js';
import type { ToolContext } from '../../tools/common/tool.js';
import { localOutput } from '../input/local-command.js';
import { type MentionDeps, resolveMentions } from '../input/mentions.js';
import { type CommandArgument, fillIn } from './fill-in.js';
import type { CommandText } from './own-command.js';

/** What a command's text is filled in with. */
export interface OwnInputDeps {
  readonly tools: ToolContext;
  /** The keys that what a shell command printed must not show. */
  secrets(): Promise<readonly string[]>;
  /** What a mention names of the MCP servers. */
  readonly resource: NonNullable<MentionDeps['resource']>;
}

/**
 * What a command of the user's own sends: its text with the arguments, the output of its shell commands, and the files that it names. Resolves with a notice
 * about those files, null when there are none. Throws a `HiError` of code `usage` when a shell command fails or a file cannot be attached.
 */
export async function ownInput(
  { body }: CommandText,
  argument: CommandArgument,
  { tools, secrets, resource }: OwnInputDeps,
  signal: AbortSignal,
): Promise<{ readonly input: UserInput; readonly notice: string | null }> {
  const { text, inserted } = await fillIn(body, argument, async (command) =>
    localOutput({ command, before: settingArguments(argument) }, tools, await secrets(), signal),
  );
  return await resolveMentions(text, inserted, tools.workingFolder, signal, { resource });
}

/** The shell expands `$1`, `$@` and `$ARGUMENTS` itself: what the user typed is data to it, never code. */
function settingArguments({ text, words }: CommandArgument): string {
  return `ARGUMENTS=${quoted(text)}; set -- ${words.map(quoted).join(' ')}`;
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
