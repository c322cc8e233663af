import { lstat } from 'node:fs/promises';
import { basename } from 'node:path';
import { globMatches, isGlobWord } from './glob-matches.js';
import { judgePath, type Surroundings, type Verdict } from './judge-path.js';
import { locate } from './places.js';
import { privateReason } from './private-places.js';
import type { ShellPart } from './read-command.js';
import type { Rule, Rules } from './rule.js';
import type { ShellWord } from './shell-word.js';

/** Programs that change what their arguments name. */
const WRITERS = new Set(
  'cp mv rm ln tee dd install rsync touch truncate mkdir rmdir chmod chown sed patch unzip tar shred split'.split(' '),
);

/** More words than this are not looked through one by one. */
const MOST_WORDS = 500;

// A pattern for names with a dot before them may find what nobody named: cat .e*, cat ~/.s{sh,x}/id.
const DOT_PATTERN = /(^|[/{,=:])\.[^/\s]*[*?[{]|\{[^/]*\./;

/** How a command line uses the paths in it. */
export interface PathUse {
  /** Whether a command in it changes what its arguments name. */
  readonly writes: boolean;
  /** Whether paths may be meant from another folder than the working folder. */
  readonly moves: boolean;
}

/** True for commands that change what their arguments name. */
export function isWriter(part: ShellPart): boolean {
  return part.kind === 'command' && WRITERS.has(basename(part.words[0]?.value ?? ''));
}

/**
 * Looks for private and forbidden places among the words of a command, whatever program they are given to.
 * Returns the verdict they call for, or null.
 */
export async function pathWordProblem(
  words: readonly ShellWord[],
  use: PathUse,
  rules: Rules,
  around: Surroundings,
): Promise<Verdict | null> {
  if (words.length > MOST_WORDS)
    return { decision: 'ask', reason: 'it has too many words to look through', rule: null };
  const kind = use.writes ? 'write' : 'read';
  const narrow = (rule: Rule) => rule.scope.kind !== 'all';
  const forbidding: Rules = { deny: rules.deny.filter(narrow), ask: [], allow: [] };
  const checksRules = forbidding.deny.some((rule) => rule.tool !== 'bash');
  let problem: Verdict | null = null;
  for (const word of words) {
    if (word.value === null && DOT_PATTERN.test(word.text))
      problem ??= { decision: 'ask', reason: `it cannot be told which files ${word.text} names`, rule: null };
    const found = isGlobWord(word) ? await globMatches(word.text, around.workingFolder) : [];
    if (found === null)
      problem ??= { decision: 'ask', reason: `too many files to look through: ${word.text}`, rule: null };
    for (const path of [...pathsIn(word), ...(found ?? [])]) {
      const reason = await privateWord(path, kind, around);
      const isCertain = word.value !== null && !use.moves;
      if (reason !== null && !(isCertain && (await isNothing(path, around))))
        problem ??= { decision: 'ask', reason: `${reason}: ${path}`, rule: null };
      const verdict = checksRules ? await judgePath(`${kind}_file`, kind, path, forbidding, around) : null;
      if (verdict?.decision === 'deny') return verdict;
    }
  }
  return problem;
}

/** The word, what follows `=`, `:` or `@` in it (--env-file=.env, host:file, @file), and what follows the letters of an option (-f.env). */
function pathsIn({ value, text }: ShellWord): readonly string[] {
  const whole = value ?? text.replace(/["']/g, '');
  if (whole === '' || whole.length > 4096) return [];
  const pieces = whole.split(/[=:@,]/).filter((piece) => piece !== '');
  const attached = [/^-\w(.+)$/s, /^-\w+([./~].*)$/s].flatMap((option) => option.exec(whole)?.[1] ?? []);
  return [...new Set([whole, ...pieces, ...attached])];
}

async function privateWord(path: string, kind: 'read' | 'write', around: Surroundings): Promise<string | null> {
  return privateReason(await locate(path, around.workingFolder), kind, around.ownPlaces);
}

/** A bare word such as `.key` may be anything; it is a place only where there is one. */
async function isNothing(path: string, { workingFolder }: Surroundings): Promise<boolean> {
  const { real } = await locate(path, workingFolder);
  return !path.includes('/') && real !== null && (await lstat(real).catch(() => null)) === null;
}
