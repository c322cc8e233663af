import { lstat } from 'node:fs/promises';
import { ANYTHING } from '../glob/glob.js';
import type { Rules } from '../rules/rules.js';
import type { ShellWord } from '../shell/shell-word.js';
import { globMatches, knownPattern } from './glob-matches.js';
import { hardLinkReason } from './hard-links.js';
import { type JudgeContext, judgePath, type Verdict } from './judge-path.js';
import type { PathUse } from './path-use.js';
import { privateReason } from './private-places.js';
import { locate } from './resolve-path.js';
import { runsLaterReason } from './runs-later.js';
import { shouldYield, yieldToEvents } from './yield-to-events.js';

/** A command with more words than this needs approval. */
const MAX_WORDS = 500;

/** PATH_MAX on Linux: no path is longer. A word with braces may be, because bash makes several words of it. */
const MAX_WORD_LENGTH = 4096;

// A pattern that begins with a dot may match private names: cat .e*, cat ~/.s{sh,x}/id.
const isHiddenNamePattern = (text: string): boolean => text.split('/').some(hasHiddenPattern);

/** The same for one step of a path, with linear searches. */
function hasHiddenPattern(step: string): boolean {
  const brace = step.indexOf('{');
  if (brace !== -1 && step.includes('.', brace)) return true;
  return step.split(/\s/).some((word, index) => {
    const dot = (index === 0 ? /(?:^|[{,=:])\./ : /[{,=:]\./).exec(word);
    return dot !== null && /[*?[{]/.test(word.slice(dot.index));
  });
}

// A pattern below /proc may match the environment of a process: /proc/$PPID/env*.
function isKernelPattern(pattern: string): boolean {
  const [top = '', ...below] = pattern.split('/').filter((step) => step !== '');
  return pattern.startsWith('/') && below.length > 0 && (top === 'proc' || /[*?{\0]/.test(top));
}

type AskVerdict = Extract<Verdict, { decision: 'ask' }>;

const ask = (reason: string): AskVerdict => ({ decision: 'ask', reason, rule: null });

/**
 * Looks for private and denied paths among the words of a command, whatever program they are given to. Returns the verdict for
 * the first one, or null; a denied path comes before a private one.
 */
export async function pathWordProblem(
  words: readonly ShellWord[],
  use: PathUse,
  rules: Rules,
  context: JudgeContext,
): Promise<Verdict | null> {
  if (words.length > MAX_WORDS) return ask('it has too many words to check');
  if (use.folders === null) return ask('it changes to too many folders');
  const forbidding = rules.deny.filter(
    (rule) => rule.scope.kind !== 'all' && rule.scope.kind !== 'argument' && rule.subject.accessKind !== 'execute',
  );
  let problem: AskVerdict | null = null;
  for (const workingFolder of use.folders) {
    const here = { ...context, workingFolder };
    for (const word of words) {
      if ((word.value ?? word.pattern ?? word.text).length > MAX_WORD_LENGTH) {
        if (/[*?{]/.test(word.pattern ?? '')) problem ??= ask('a word in it is too long to check');
        continue;
      }
      problem ??= unclearName(word);
      const pattern = knownPattern(word);
      const found = pattern === null ? [] : await globMatches(pattern, workingFolder, context.signal);
      // An unknown word is not a reason to ask; a pattern with too many matches is.
      if (found === null && !pattern?.includes(ANYTHING)) problem ??= ask(`too many files to check: ${word.text}`);
      for (const path of [...pathsIn(word), ...(found ?? [])]) {
        if (shouldYield()) await yieldToEvents(context.signal);
        const denied = await denial(path, use, { ...rules, deny: forbidding, ask: [], allow: [] }, here);
        if (denied !== null) return denied;
        problem ??= await privateProblem(path, word, use, here);
      }
    }
  }
  return problem;
}

function unclearName({ text, value, pattern = text }: ShellWord): AskVerdict | null {
  const readings = [text.slice(0, MAX_WORD_LENGTH), pattern.replaceAll('\\', '')];
  const isUnclear =
    /^~[^/+]/.test(text) || (value === null && (readings.some(isHiddenNamePattern) || isKernelPattern(pattern)));
  return isUnclear ? ask(`it is unclear which files ${text} names`) : null;
}

async function denial(path: string, { writes }: PathUse, rules: Rules, context: JudgeContext): Promise<Verdict | null> {
  if (rules.deny.length === 0) return null;
  for (const kind of writes ? (['read', 'write'] as const) : (['read'] as const)) {
    const verdict = await judgePath(null, { kind, path }, rules, context);
    if (verdict.decision === 'deny') return verdict;
  }
  return null;
}

async function privateProblem(
  path: string,
  word: ShellWord,
  { mayWrite, changesFolder }: PathUse,
  { workingFolder, root, ownPlaces }: JudgeContext,
): Promise<AskVerdict | null> {
  const isAddress = /^[a-z+]+:\/\//.test(word.value ?? '');
  const place = await locate(path, workingFolder);
  const later = mayWrite && !isAddress ? runsLaterReason(place, (await locate(root, '/')).real ?? root) : null;
  const reason = privateReason(place, ownPlaces) ?? later ?? (await hardLinkReason(place.real ?? '', root, ownPlaces));
  if (reason === null) return null;
  // A word without a slash, such as `.key`, counts as a path only if such a file exists.
  const isCertain = word.value !== null && !changesFolder && !path.includes('/');
  if (isCertain && place.real !== null && (await lstat(place.real).catch(() => null)) === null) return null;
  return ask(`${reason}: ${path}`);
}

/** The paths that may be in a word: all of it, what follows `=`, `:` or `@` (--env-file=.env, host:file, @file), and what follows an option letter (-f.env). */
function pathsIn({ value, text }: ShellWord): readonly string[] {
  const whole = value ?? text.replace(/["']/g, '');
  if (whole === '') return [];
  const pieces = whole.split(/[=:@,]/).filter((piece) => piece !== '');
  const attached = [/^-\w(.+)$/s, /^-\w+([./~].*)$/s].flatMap((option) => option.exec(whole)?.[1] ?? []);
  return [...new Set([whole, ...pieces, ...attached])];
}
