import { accessSync, constants, type Dirent, opendirSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type EditBuffer, replaceRange, skipBack } from './edit-buffer.js';

/** The possible replacements for the end of the text before the cursor. */
interface Completion {
  /** The offset where the replaced text starts. */
  readonly from: number;
  readonly candidates: readonly Candidate[];
  /**
   * Whether candidates need not start with the typed text. If so, the typed text is replaced only if there is a single
   * candidate.
   */
  readonly isFuzzy?: boolean;
}

export interface Candidate {
  /** The replacement. */
  readonly text: string;
  /** Shown next to it in the list. */
  readonly summary?: string;
}

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

/**
 * Completes a command, its argument, a path after `@`, or a shell command after `!`. Never rejects: a source that fails
 * yields no candidates.
 */
export async function complete(before: string, sources: LineCompletionSources): Promise<Completion> {
  const command = /^\/\S*$/.exec(before);
  if (command) return { from: 0, candidates: matchingCandidates(before, commandNames(sources.commands)) };
  const shell = /^!{1,2}(.*)$/s.exec(before);
  if (shell) return completeShell(before, shell[1] ?? '', sources);
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

/**
 * Completes a path that starts with the typed text, or else one that contains its letters in order. Quotes a path with
 * spaces.
 */
async function completePath(typed: string, end: number, sources: LineCompletionSources): Promise<Completion> {
  const path = typed.replace(/^"/, '');
  const from = end - typed.length;
  const found = await pathsThatBegin(path, sources);
  const candidates = [
    ...found.map((one) => quotedPath(one.path, one.isFolder)),
    ...mentions(path, sources.mentionable?.() ?? []),
  ];
  if (candidates.length > 0 || path === '' || /^[~/]|(?:^|\/)\.\.?\//.test(path)) return { from, candidates };
  const similar = await fuzzyPaths(path, sources.cwd.now);
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

/** The folders that relative paths and `~` refer to. */
interface PathBase {
  readonly cwd: { readonly now: string };
  readonly home: string;
}

/** A possible completion of a typed path. */
interface PathCandidate {
  /** Starts with the typed text; has no trailing slash. */
  readonly path: string;
  readonly isFolder: boolean;
}

/**
 * The files and folders whose path starts with `typed`, sorted; hidden ones only after a dot. Empty if the folder
 * cannot be read.
 */
export async function pathsThatBegin(typed: string, { cwd, home }: PathBase): Promise<readonly PathCandidate[]> {
  const folder = typed.slice(0, typed.lastIndexOf('/') + 1);
  const where = resolve(cwd.now, folder.startsWith('~/') ? join(home, folder.slice(2)) : folder);
  const found = await readdir(where, { withFileTypes: true }).catch(() => []);
  const rest = typed.slice(folder.length);
  return found
    .filter(({ name }) => name.startsWith(rest) && (rest !== '' || !name.startsWith('.')))
    .map((entry) => ({ path: folder + entry.name, isFolder: entry.isDirectory() }))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** How many entries are read at most. */
const MOST_ENTRIES = 20_000;
/** How long a search may take, in milliseconds. */
const TIME_LIMIT = 120;
const MOST_FOUND = 20;

/** Folders with other people's code or build output. */
const SKIPPED = new Set(['node_modules', '__pycache__', 'target', 'vendor']);

/**
 * Returns the files and folders below `cwd` that match `typed` best, best match first. A path matches if it contains
 * `typed`, or its letters in the same order. Hidden folders and installed packages are left out. A large tree is
 * searched as far as the time allows, nearest folders first.
 */
async function fuzzyPaths(typed: string, cwd: string): Promise<readonly PathCandidate[]> {
  const found: { readonly candidate: PathCandidate; readonly score: number }[] = [];
  for await (const candidate of below(cwd)) {
    const score = scoreOf(candidate.path.toLowerCase(), typed.toLowerCase());
    if (score !== null) found.push({ candidate, score });
  }
  const isExact = found.some(({ score }) => score < BY_LETTERS);
  return found
    .filter(({ score }) => !isExact || score < BY_LETTERS)
    .sort((one, other) => one.score - other.score || (one.candidate.path < other.candidate.path ? -1 : 1))
    .slice(0, MOST_FOUND)
    .map(({ candidate }) => candidate);
}

/**
 * The lowest score of a path whose matching letters are scattered. Such paths are listed only if nothing else matches.
 */
const BY_LETTERS = 3_000_000;

/** Lower is better; null if the path does not match. */
function scoreOf(path: string, typed: string): number | null {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.startsWith(typed)) return path.length;
  if (name.includes(typed)) return 1_000_000 + path.length;
  if (path.includes(typed)) return 2_000_000 + path.length;
  return isIn(typed, name) ? BY_LETTERS + path.length : isIn(typed, path) ? 2 * BY_LETTERS + path.length : null;
}

/** Whether the text contains the letters in this order. */
function isIn(letters: string, text: string): boolean {
  let at = -1;
  for (const letter of letters) {
    at = text.indexOf(letter, at + 1);
    if (at === -1) return false;
  }
  return true;
}

async function* below(cwd: string): AsyncGenerator<PathCandidate> {
  const until = performance.now() + TIME_LIMIT;
  let left = MOST_ENTRIES;
  const folders = [''];
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    for (const entry of entriesOf(join(cwd, folder), left)) {
      left -= 1;
      if (entry.name.startsWith('.') || SKIPPED.has(entry.name)) continue;
      const path = folder + entry.name;
      if (entry.isDirectory()) folders.push(`${path}/`);
      yield { path, isFolder: entry.isDirectory() };
    }
    if (left <= 0 || performance.now() > until) return;
    // Lets keys be handled in between.
    await nextTurn();
  }
}

/** At most `most` entries of a folder; none if it cannot be read. */
function entriesOf(folder: string, most: number): readonly Dirent[] {
  try {
    const opened = opendirSync(folder);
    try {
      const entries: Dirent[] = [];
      for (let entry = opened.readSync(); entry !== null && entries.length < most; entry = opened.readSync())
        entries.push(entry);
      return entries;
    } finally {
      opened.closeSync();
    }
  } catch {
    return [];
  }
}

/** Characters in a name that are special to a shell. */
const SPECIAL = /[\s"'\\$`&|;<>(){}[\]*?!#]/g;

/**
 * Completes the last word of a shell command: a program if one is expected there, else a file. `before` is the line up
 * to the cursor.
 */
async function completeShell(before: string, command: string, base: PathBase): Promise<Completion> {
  const typed = command.slice(startOfLastWord(command));
  const isProgram = isBeforeProgram(command.slice(0, command.length - typed.length));
  const from = before.length - typed.length;
  const word = typed.replaceAll(/\\(.)/gs, '$1');
  if (isProgram && !word.includes('/')) return { from, candidates: await programs(word) };
  const paths = await pathsThatBegin(word, base);
  const candidates = paths.map(({ path, isFolder }) => ({ text: quoted(path) + (isFolder ? '/' : ' ') }));
  return { from, candidates };
}

function startOfLastWord(command: string): number {
  let start = 0;
  for (let at = 0; at < command.length; at += 1) {
    if (command[at] === '\\') at += 1;
    else if (/[\s|&;()<>]/.test(command[at] ?? '')) start = at + 1;
  }
  return Math.min(start, command.length);
}

/** Whether a program name comes next: its part of the command has nothing but assignments before it. */
function isBeforeProgram(text: string): boolean {
  const words =
    text
      .split(/[|&;(]/)
      .at(-1)
      ?.trim() ?? '';
  return words === '' || words.split(/\s+/).every((word) => /^\w+=/.test(word));
}

/** Does not quote a leading `~`. */
const quoted = (path: string): string => path.replace(SPECIAL, '\\$&');

async function programs(word: string): Promise<Completion['candidates']> {
  if (word === '') return [];
  const names = new Set<string>();
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const found = await readdir(folder).catch(() => []);
    for (const name of found) if (name.startsWith(word) && isProgramFile(join(folder, name))) names.add(name);
  }
  return [...names].sort().map((name) => ({ text: `${name} ` }));
}

function isProgramFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
