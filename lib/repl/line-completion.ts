import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** A slash command as Tab sees it. */
export interface CompletableCommand {
  /** Without the slash. */
  readonly name: string;
  readonly aliases?: readonly string[];
  /** One line for the list. */
  readonly summary: string;
  /** What the argument may be, all of it or what begins with what is typed. */
  complete?(argument: string): Promise<readonly string[]>;
}

/** What could stand in place of the end of the text before the cursor. */
export interface Completion {
  /** Where the part begins that is completed. */
  readonly from: number;
  readonly candidates: readonly Candidate[];
}

export interface Candidate {
  /** What would be put in. */
  readonly text: string;
  /** What the list says after it. */
  readonly summary?: string;
}

/** Where completions come from. */
export interface CompletionSources {
  readonly commands: readonly CompletableCommand[];
  readonly cwd: string;
  readonly home: string;
}

/** Completes a command, its argument, or a path after `@`. Never fails: what cannot be read or asked has no candidates. */
export async function complete(before: string, sources: CompletionSources): Promise<Completion> {
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
    ...aliases.map((alias) => ({ text: `/${alias} `, summary: `the same as /${name}` })),
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

/** A name with blanks is put in quotes, which the closing quote ends. */
async function completePath(typed: string, end: number, { cwd, home }: CompletionSources): Promise<Completion> {
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

/** A folder invites to go on, so it is left open. */
function quotedPath(path: string, isFolder: boolean): Candidate {
  const open = /\s/.test(path) ? `"${path}` : path;
  if (isFolder) return { text: `${open}/` };
  return { text: open.startsWith('"') ? `${open}" ` : `${open} ` };
}

/** Those that begin with what is typed; when none does, those that contain it. */
function matchingCandidates(typed: string, candidates: readonly Candidate[]): readonly Candidate[] {
  const beginning = candidates.filter(({ text }) => text.toLowerCase().startsWith(typed.toLowerCase()));
  if (beginning.length > 0 || typed.startsWith('/')) return beginning;
  return candidates.filter(({ text }) => text.toLowerCase().includes(typed.toLowerCase()));
}

/** What all candidates begin with. */
export function commonPrefix(candidates: readonly Candidate[]): string {
  const [first = '', ...others] = candidates.map(({ text }) => text);
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}
