import { type EditBuffer, replaceRange, skipBack } from '../editing/edit-buffer.js';
import type { Candidate, Completion } from './completion.js';
import { type PathBase, pathsThatBegin } from './path-completion.js';

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

/** Something other than a file that can follow an `@`: `SERVER:address`. */
export interface Mentionable {
  readonly text: string;
  /** Whether more must be typed after it. */
  readonly isOpen: boolean;
}

export interface LineCompletionSources extends PathBase {
  readonly commands: readonly CompletableCommand[];
  mentionable?(): readonly Mentionable[];
}

/** Completes a command, its argument, a path after `@`, or a shell command after `!`. Never rejects: a source that fails yields no candidates. */
export async function complete(before: string, sources: LineCompletionSources): Promise<Completion> {
  const command = /^\/\S*$/.exec(before);
  if (command) return { from: 0, candidates: matchingCandidates(before, commandNames(sources.commands)) };
  const shell = /^!{1,2}(.*)$/s.exec(before);
  if (shell) {
    const { completeShell } = await import('./shell-completion.js');
    return completeShell(before, shell[1] ?? '', sources);
  }
  const path = mentionAtEnd(before);
  if (path !== null) return completePath(path, before.length, sources);
  const argument = /^\/(\S+)\s+(\S.*)?$/.exec(before);
  if (argument) return completeArgument(argument[1] ?? '', argument[2] ?? '', before.length, sources.commands);
  return { from: before.length, candidates: [] };
}

/** The text after the first `@` of the last word, or after an `@` with an open quote; null if there is none. */
function mentionAtEnd(before: string): string | null {
  const word = skipBack(before, before.length, /\S/);
  const quote = before.lastIndexOf('"');
  if (quote < word && /(?:^|[\s([{<"'`])@$/.test(before.slice(Math.max(0, quote - 2), quote)))
    return before.slice(quote);
  return /(?:^|[([{<"'`])@(.*)$/s.exec(before.slice(word))?.[1] ?? null;
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

/** Completes a path that starts with the typed text, or else one that contains its letters in order. Quotes a path with spaces. */
async function completePath(typed: string, end: number, sources: LineCompletionSources): Promise<Completion> {
  const path = typed.replace(/^"/, '');
  const from = end - typed.length;
  const found = await pathsThatBegin(path, sources);
  const candidates = [
    ...found.map((one) => quotedPath(one.path, one.isFolder)),
    ...mentions(path, sources.mentionable?.() ?? []),
  ];
  if (candidates.length > 0 || path === '' || /^[~/]|(?:^|\/)\.\.?\//.test(path)) return { from, candidates };
  const { fuzzyPaths } = await import('./fuzzy-paths.js');
  const similar = await fuzzyPaths(path, sources.cwd);
  return { from, candidates: similar.map((one) => quotedPath(one.path, one.isFolder)), isFuzzy: true };
}

/** Lists only the servers until a colon is typed. */
function mentions(typed: string, all: readonly Mentionable[]): readonly Candidate[] {
  const begun = all.filter(({ text }) => text.startsWith(typed));
  if (typed.includes(':')) return begun.map(({ text, isOpen }) => quotedPath(text, isOpen, ''));
  return [...new Set(begun.map(({ text }) => text.slice(0, text.indexOf(':') + 1)))].map((text) => ({ text }));
}

/** A folder gets no closing quote or space, so that typing continues the path. */
function quotedPath(path: string, isOpen: boolean, end = '/'): Candidate {
  const open = /\s/.test(path) ? `"${path}` : path;
  if (isOpen) return { text: `${open}${end}` };
  return { text: open.startsWith('"') ? `${open}" ` : `${open} ` };
}

/** The candidates that start with the typed text; when there are none, those that contain it. */
function matchingCandidates(typed: string, candidates: readonly Candidate[]): readonly Candidate[] {
  const withPrefix = candidates.filter(({ text }) => text.toLowerCase().startsWith(typed.toLowerCase()));
  if (withPrefix.length > 0 || typed.startsWith('/')) return withPrefix;
  return candidates.filter(({ text }) => text.toLowerCase().includes(typed.toLowerCase()));
}

/** Inserts the text that all candidates start with; null when the line already has it. */
export function insertCommonPrefix(
  buffer: EditBuffer,
  { from, candidates, isFuzzy = false }: Completion,
): EditBuffer | null {
  const prefix = commonPrefix(candidates);
  const typed = buffer.text.slice(from, buffer.cursor);
  if (prefix === typed || (isFuzzy ? candidates.length !== 1 : prefix.length < typed.length)) return null;
  return replaceRange(buffer, from, buffer.cursor, { text: prefix, marks: [] });
}

function commonPrefix(candidates: readonly Candidate[]): string {
  const [first = '', ...others] = candidates.map(({ text }) => text);
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}
