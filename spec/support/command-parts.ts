import { readCommand, type ShellPart } from '../../lib/permission/shell/read-command.js';

export type CommandPart = Extract<ShellPart, { kind: 'command' }>;

const flattened = (parts: readonly ShellPart[]): readonly ShellPart[] =>
  parts.flatMap((part) => (part.kind === 'command' ? [part, ...flattened(part.inner?.parts ?? [])] : [part]));

/** What a line is made of, nested commands included, and all its words. */
export async function lineOf(line: string) {
  const { parts, words } = await readCommand(line, {});
  return { parts: flattened(parts), words };
}

/** The first command of a line. */
export async function commandOf(line: string): Promise<CommandPart> {
  const found = (await lineOf(line)).parts.find((part) => part.kind === 'command');
  if (found === undefined) throw new Error(`'${line}' has no command.`);
  return found;
}
