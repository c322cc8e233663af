import type { UserInput } from '../../session/common/deps.js';
import type { ToolContext } from '../../tools/common/tool.js';
import { localOutput } from '../input/local-command.js';
import { type MentionDeps, resolveMentions } from '../input/mentions.js';
import { type CommandArgument, fillIn } from './fill-in.js';
import type { CommandText } from './own-command.js';

/** What filling in a command's text needs. */
export interface OwnInputDeps {
  readonly tools: ToolContext;
  /** The keys to hide in the output of shell commands. */
  secrets(): Promise<readonly string[]>;
  /** Finds the MCP resource that a mention names. */
  readonly resource: NonNullable<MentionDeps['resource']>;
}

/**
 * The input made by the user's own command: its text with the arguments, the output of its shell commands, and the files it mentions. Resolves with a notice
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

/** The shell itself expands `$1`, `$@` and `$ARGUMENTS`, so that what the user typed is data, never code. */
function settingArguments({ text, words }: CommandArgument): string {
  return `ARGUMENTS=${quoted(text)}; set -- ${words.map(quoted).join(' ')}`;
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
