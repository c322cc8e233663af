import { pick } from '../../registry.js';
import type { UserInput } from '../../session/common/deps.js';
import { findOwnCommands, readOwnCommand } from './own-command.js';
import { type OwnInputDeps, ownInput } from './own-input.js';

/** The name of a command, the commands' folder, and the words after the name. */
export interface AskedCommand {
  readonly folder: string;
  readonly name: string;
  readonly words: readonly string[];
}

/** The input made by the user's own command, after piped input and attachments. Throws a `HiError` if there is no such command. */
export async function askedCommand(
  { folder, name, words }: AskedCommand,
  gathered: UserInput,
  deps: OwnInputDeps,
  signal: AbortSignal,
): Promise<{ readonly input: UserInput; readonly model: string | null }> {
  const command = await readOwnCommand(pick(findOwnCommands(folder), name.replace(/^\//, ''), 'command', 'usage'));
  const typed = words.filter((word) => word !== '-');
  const argument = { text: typed.join(' '), words: typed };
  const { input } = await ownInput(command, argument, deps, signal);
  const texts = [...gathered.texts, ...input.texts];
  const attachments = [...gathered.attachments, ...input.attachments];
  return { input: { text: input.text, texts, attachments }, model: command.model };
}
