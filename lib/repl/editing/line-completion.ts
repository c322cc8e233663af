import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type EditBuffer, replaceRange } from './edit-buffer.js';

/** A slash command, for completion. */
export interface CompletableCommand {
  /** Without the slash. */
  readonly name: string;
  readonly aliases?: readonly string[];
  /** One line for the list. */
  readonly summary: string;
  /** The possible arguments: all of them, or those that start with `argument`. */
  complete?(argument: string): Promise<readonly string[]>;
}

/** The possible replacements for the end of the text before the cursor. */
export interface Completion {
  /** The offset where the replaced text starts. */
  readonly from: number;
  readonly candidates: readonly Candidate[];
}

export interface Candidate {
  /** The replacement. */
  readonly text: string;
  /** Printed after it in the list. */
  readonly summary?: string;
}

export interface LineCompletionSources {
  readonly commands: readonly CompletableCommand[];
  readonly cwd: string;
  readonly home: string;
}

/** Completes a command, its argument, or a path after `@`. Never rejects: a source that fails has no candidates. */
export async function complete(before: string, sources: LineCompletionSources): Promise<Completion> {
  const command = /^\/\S*$/.exec(before);
  if (command) return { from: 0, candidates: matchingCandidates(before, commandNames(sources.commands)) };
  const path = /(?:^|[\s([{<"'`])@("[^"]*|\S*)$/.exec(before);
  if (path) return completePath(path[1] ?? '', before.length, sources);
  const argument = /^\/(\S+)\s+(.*)$/.exec(before);
  if (argument) return completeArgument(argument[1] ?? '', argument[2] ?? '', before.length, sources.commands);
  return { from: before.length, candidates: [] };
}

function commandNames(commands: readonly CompletableCommand[]): readonly Candidate[] {
  return commands.flatMap(({ name, aliases = [], summary }) => [
    { text: `/${name} `, summary },
    ...aliases.map((alias) => ({ text: `/${alias} `, summary: `alias of /${name}` })),
  ]);
}

async function completeArgument(
  name: string,
  argument: string,
  end: number,
  commands: readonly CompletableCommand[],
): Promise<Completion> {
  const command = commands.find((member) => member.name === name || member.aliases?.includes(name));
  const values = await (command?.complete?.(argument) ?? Promise.resolve([])).catch(() => []);
  return {
    from: end - argument.length,
    candidates: matchingCandidates(
      argument,
      values.map((text) => ({ text })),
    ),
  };
}

/** A path with blanks is quoted. */
async function completePath(typed: string, end: number, { cwd, home }: LineCompletionSources): Promise<Completion> {
  const path = typed.replace(/^"/, '');
  const folder = /^.*\//s.exec(path)?.[0] ?? '';
  const where = resolve(cwd, folder.startsWith('~/') ? join(home, folder.slice(2)) : folder);
  const found = await readdir(where, { withFileTypes: true }).catch(() => []);
  const rest = path.slice(folder.length);
  const candidates = found
    .filter(({ name }) => name.startsWith(rest) && (rest !== '' || !name.startsWith('.')))
    .map((entry) => quotedPath(folder + entry.name, entry.isDirectory()))
    .sort((one, other) => (one.text < other.text ? -1 : 1));
  return { from: end - typed.length, candidates };
}

/** A folder gets no closing quote or blank, so that typing continues the path. */
function quotedPath(path: string, isFolder: boolean): Candidate {
  const open = /\s/.test(path) ? `"${path}` : path;
  if (isFolder) return { text: `${open}/` };
  return { text: open.startsWith('"') ? `${open}" ` : `${open} ` };
}

/** The candidates that start with the typed text; when there are none, those that contain it. */
function matchingCandidates(typed: string, candidates: readonly Candidate[]): readonly Candidate[] {
  const withPrefix = candidates.filter(({ text }) => text.toLowerCase().startsWith(typed.toLowerCase()));
  if (withPrefix.length > 0 || typed.startsWith('/')) return withPrefix;
  return candidates.filter(({ text }) => text.toLowerCase().includes(typed.toLowerCase()));
}

/** Inserts the text that all candidates start with; null when the line already has it. */
export function insertCommonPrefix(buffer: EditBuffer, { from, candidates }: Completion): EditBuffer | null {
  const prefix = commonPrefix(candidates);
  const typed = buffer.text.slice(from, buffer.cursor);
  if (prefix.length < typed.length || prefix === typed) return null;
  return replaceRange(buffer, from, buffer.cursor, { text: prefix, marks: [] });
}

function commonPrefix(candidates: readonly Candidate[]): string {
  const [first = '', ...others] = candidates.map(({ text }) => text);
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}
