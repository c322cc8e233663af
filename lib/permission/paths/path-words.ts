import { lstat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { namesPlaces, type Rules } from '../rules/rules.js';
import type { ShellPart } from '../shell/read-command.js';
import { programName, type ShellWord } from '../shell/shell-word.js';
import { hardLinkReason, type JudgeContext, judgePath, type Verdict } from './judge-path.js';
import { isOwnPlace, privateReason } from './private-places.js';
import { absolutePath, locate } from './resolve-path.js';

/** A command with more words than this needs approval. */
const MAX_WORDS = 500;

/** PATH_MAX on Linux: no path is longer. */
const MAX_WORD_LENGTH = 4096;

/** A command that may run in more folders than this needs approval. */
const MAX_FOLDERS = 20;

/** The folders that the paths of a command line may be relative to. */
export interface LineFolders {
  /** Those in the text; null for too many. */
  readonly folders: readonly string[] | null;
  /** Whether there may be others than the one that it begins in. */
  readonly changes: boolean;
}

/** Finds the folders that the commands of a line change to. `workingFolder` is where it begins. */
export function foldersOf(parts: readonly ShellPart[], workingFolder: string): LineFolders {
  const commands = parts.filter((part) => part.kind === 'command');
  const changing = commands.filter(({ words }) => words.some(({ value }) => /^(?:cd|pushd|popd)$/.test(value ?? '')));
  const folders = new Set([workingFolder]);
  for (const { words } of changing)
    for (const target of targetsOf(words)) {
      for (const folder of [...folders]) folders.add(absolutePath(target, folder));
      if (folders.size > MAX_FOLDERS) return { folders: null, changes: true };
    }
  return { folders: [...folders], changes: changing.length > 0 || parts.some(hidesCommands) };
}

/** Whether a part may run commands that the text does not show. */
export const hidesCommands = (part: ShellPart): boolean =>
  part.kind === 'command'
    ? part.uncertainty?.mayHideCommands === true
    : part.kind === 'unclear' && part.mayHideCommands;

/** The folders that `cd` is given, where they are literal. */
function targetsOf(words: readonly ShellWord[]): readonly string[] {
  const targets = words.slice(1).flatMap(({ value }) => (value === null || value.startsWith('-') ? [] : [value]));
  return words.length === 1 ? [homedir()] : targets;
}

const ask = (reason: string): Extract<Verdict, { decision: 'ask' }> => ({ decision: 'ask', reason, rule: null });

/**
 * Looks for denied and private paths among the words of a command that the text shows, whatever program they are given
 * to: the sandbox keeps commands from all of these places, and a question says so beforehand. Returns the verdict for
 * the first, or null; a denied path comes before a private one.
 */
export async function pathWordProblem(
  words: readonly ShellWord[],
  { folders, changes }: LineFolders,
  rules: Rules,
  context: JudgeContext,
): Promise<Verdict | null> {
  if (words.length > MAX_WORDS) return ask('it has too many words to check');
  if (folders === null) return ask('it changes to too many folders');
  const denying = { ...rules, deny: rules.deny.filter(namesPlaces), ask: [], allow: [] };
  let problem: Verdict | null = null;
  for (const workingFolder of folders) {
    const here = { ...context, workingFolder };
    for (const { value } of words) {
      if (value === null || value.length > MAX_WORD_LENGTH) continue;
      for (const path of pathsIn(value)) {
        if (shouldYield()) await yieldToEvents(context.signal);
        const verdict = denying.deny.length > 0 ? await judgePath(null, { kind: 'read', path }, denying, here) : null;
        if (verdict?.decision === 'deny') return verdict;
        problem ??= await privateProblem(path, !changes && !path.includes('/'), here);
      }
    }
  }
  return problem;
}

/** `isName`: a word without a slash, such as `.key`, counts as a path only if such a file exists. */
async function privateProblem(path: string, isName: boolean, context: JudgeContext): Promise<Verdict | null> {
  const { workingFolder, root, ownPlaces } = context;
  const place = await locate(path, workingFolder);
  const reason = privateReason(place, ownPlaces) ?? (await hardLinkReason(place.real ?? '', root, ownPlaces));
  if (reason === null) return null;
  if (isName && place.real !== null && (await lstat(place.real).catch(() => null)) === null) return null;
  const asked = ask(`${reason}: ${path}`);
  // What a command does with hi's own files, its text does not say: `-y` is not enough.
  return isOwnPlace(place, ownPlaces) ? { ...asked, mayBeDenied: true } : asked;
}

/**
 * The paths that may be in a word: all of it, what follows `=`, `:` or `@` (--env-file=.env, host:file, @file), and
 * what follows an option letter (-f.env).
 */
function pathsIn(value: string): readonly string[] {
  if (value === '') return [];
  const pieces = value.split(/[=:@,]/).filter((piece) => piece !== '');
  const attached = [/^-\w(.+)$/s, /^-\w+([./~].*)$/s].flatMap((option) => option.exec(value)?.[1] ?? []);
  return [...new Set([value, ...pieces, ...attached])];
}

/** How long judging may block the event loop, in milliseconds. */
const SLICE_MS = 20;

let since = 0;

/**
 * Whether a long loop has to call `yieldToEvents` now. Checked first, because an `await` in every iteration would take
 * longer than most iterations.
 */
export function shouldYield(): boolean {
  return performance.now() - since > SLICE_MS;
}

/** Yields to the event loop, so that keys and signals are handled. Rejects when `signal` fires. */
export async function yieldToEvents(signal: AbortSignal | undefined): Promise<void> {
  await setImmediate();
  since = performance.now();
  signal?.throwIfAborted();
}

/** Programs that run a file which they are given. */
const INTERPRETER =
  /^(?:python|pypy|perl|ruby|node|nodejs|bun|deno|php|lua|tclsh|expect|Rscript|osascript|source|\.|(?:ba|da|z|k|a|)sh)[\d.]*$/;

/** The files that a line runs by name: programs with a path, and the scripts of shells and interpreters. */
export function scriptFiles(parts: readonly ShellPart[]): readonly string[] {
  return parts.flatMap((part) => {
    if (part.kind !== 'command') return [];
    const [program, ...rest] = part.words;
    const named = program?.value?.includes('/') ? [program.value] : [];
    const isInterpreter = INTERPRETER.test(programName(program?.value ?? ''));
    const given = isInterpreter ? rest.flatMap(({ value }) => (isOperand(value) ? [value] : [])) : [];
    return [...named, ...given.slice(0, MOST_GIVEN), ...scriptFiles(part.inner?.parts ?? [])];
  });
}

/** `deno run x.ts`: the script is one of the first words; later words are its data. */
const MOST_GIVEN = 2;

const isOperand = (value: string | null): value is string => value !== null && /^[^-]/.test(value);
