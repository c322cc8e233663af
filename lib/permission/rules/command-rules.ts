import { basename } from 'node:path';
import { readCommand, type ShellPart } from '../shell/read-command.js';
import { programName, type ShellWord } from '../shell/shell-word.js';
import type { Grant, Rule } from './rules.js';

type CommandPart = Extract<ShellPart, { kind: 'command' }>;

/**
 * A rule about commands, with its words as bash reads them. `words` is null when the rule is not one simple command.
 */
export interface CommandRule {
  readonly rule: Rule;
  readonly words: readonly string[] | null;
}

const read = new WeakMap<Rule, Promise<CommandRule>>();

/** The rules about commands, each parsed once. */
export function commandRules(rules: readonly Rule[]): Promise<readonly CommandRule[]> {
  return Promise.all(rules.filter(({ subject }) => subject.accessKind === 'execute').map(commandRule));
}

function commandRule(rule: Rule): Promise<CommandRule> {
  const before = read.get(rule);
  if (before) return before;
  const reading = wordsOf(rule).then((words) => ({ rule, words }));
  read.set(rule, reading);
  return reading;
}

async function wordsOf({ scope }: Rule): Promise<readonly string[] | null> {
  if (scope.kind === 'all') return null;
  const [part, ...others] = (await readCommand(scope.text, {})).parts;
  if (part?.kind !== 'command' || others.length > 0) return null;
  return literalValues([...part.assignments, ...part.words]);
}

function literalValues(words: readonly ShellWord[]): readonly string[] | null {
  const values = words.map((word) => word.value).filter((value) => value !== null);
  return values.length === words.length ? values : null;
}

/** Whether the rule covers the whole command line as it is written. */
export function coversCommandLine({ rule: { scope } }: CommandRule, command: string): boolean {
  return scope.kind === 'all' || (scope.kind === 'exact' && scope.text.trim() === command.trim());
}

/** How much of a command the rules allow: with the nested commands, only the outer one, or nothing. */
export type Coverage = 'all' | 'outer' | 'none';

/** Reading only. */
export const READING: Grant = { write: false, network: false, read: [] };

/** The union of these grants. */
export function together(grants: readonly Grant[]): Grant {
  return {
    write: grants.some(({ write }) => write),
    network: grants.some(({ network }) => network),
    read: [...new Set(grants.flatMap(({ read }) => read))],
  };
}

/**
 * How much of this command the rules cover, and what they let it do. The prefix of a rule has to include the name of
 * the nested command.
 */
export function coverage(
  rules: readonly CommandRule[],
  part: CommandPart,
): { readonly reach: Coverage; readonly grant: Grant } {
  const found = rules.map((rule) => ({ reach: coverageBy(rule, part), grant: rule.rule.grant }));
  const reach = found.some((one) => one.reach === 'all')
    ? 'all'
    : found.some((one) => one.reach === 'outer')
      ? 'outer'
      : 'none';
  return { reach, grant: together(found.filter((one) => one.reach !== 'none').map(({ grant }) => grant)) };
}

function coverageBy(
  { rule, words: wanted }: CommandRule,
  { assignments, words, inner, uncertainty }: CommandPart,
): Coverage {
  const all = [...assignments, ...words];
  const exact = rule.scope.kind === 'exact';
  if (wanted === null || (exact && wanted.length !== all.length)) return 'none';
  if (!wanted.every((word, index) => all[index]?.value === word)) return 'none';
  if (exact) return 'all';
  const reach = wanted.length - assignments.length;
  if (reach <= 0 || uncertainty !== null) return 'none';
  return inner === null || reach > inner.start ? 'all' : 'outer';
}

/**
 * Whether a rule that asks or denies matches a command. `maybe`: a word of unknown value may be the one that the rule
 * names.
 */
export type RuleMatch = 'yes' | 'maybe' | 'no';

/**
 * Whether a rule that asks or denies matches this command: by any path to the program (`/bin/rm`), and nested in any
 * other command.
 */
export function matchCommand({ rule, words }: CommandRule, part: CommandPart): RuleMatch {
  if (rule.scope.kind === 'all') return 'yes';
  if (words === null) return 'no';
  const [program = ''] = words;
  const mayNest = part.inner !== null || part.uncertainty !== null;
  const starts = mayNest ? part.words.map((_, index) => index) : [0];
  const found = starts.map((start) =>
    matchWords(words, undashed(part.words.slice(start), program), rule.scope.kind === 'exact'),
  );
  return found.includes('yes') ? 'yes' : found.includes('maybe') ? 'maybe' : 'no';
}

/** `git-push x` is `git push x`. */
function undashed(words: readonly ShellWord[], program: string): readonly ShellWord[] {
  const [first, ...rest] = words;
  const [name, start] = [programName(first?.value ?? ''), `${programName(program)}-`];
  if (first === undefined || !name.startsWith(start) || programName(program).includes('-')) return words;
  return [{ ...first, value: program }, { ...first, value: name.slice(start.length) }, ...rest];
}

function matchWords(wanted: readonly string[], words: readonly ShellWord[], exact: boolean): RuleMatch {
  let isCertain = true;
  let mayBeMore = false;
  let position = 0;
  for (const [index, name] of wanted.entries()) {
    if (index > 0) position = afterOptions(words, position, name);
    const word = words[position];
    if (word === undefined) return mayBeMore ? 'maybe' : 'no';
    const { value } = word;
    if (value === null) {
      isCertain = false;
      mayBeMore ||= word.mayBeOption;
    } else if (index === 0 ? programName(value) !== programName(name) : value !== name) return 'no';
    position += 1;
  }
  if (exact && position < words.length) return 'no';
  return isCertain ? 'yes' : 'maybe';
}

/**
 * The position after options, each followed by one word at most: they may precede a subcommand (`git -c a=b push`).
 * Stops at `name` in any case.
 */
function afterOptions(words: readonly ShellWord[], from: number, name: string): number {
  let isAfterOption = false;
  let position = from;
  for (const { value } of words.slice(from)) {
    const isOption = value?.startsWith('-') === true;
    if (value === null || value === name || !(isOption || isAfterOption)) break;
    isAfterOption = isOption;
    position += 1;
  }
  return position;
}

/**
 * A rule that a command line matches. `isCertain` is false if a word of unknown value may be the one that the rule
 * names.
 */
interface RuleFound {
  readonly source: string;
  readonly isCertain: boolean;
}

/** The first rule that certainly matches this command line or a part of it; else the first that may. */
export function matchingRule(
  rules: readonly CommandRule[],
  command: string,
  all: readonly ShellPart[],
): RuleFound | null {
  let possible: string | null = null;
  for (const rule of rules) {
    const { source } = rule.rule;
    if (coversCommandLine(rule, command)) return { source, isCertain: true };
    for (const part of all) {
      const match = part.kind === 'command' ? matchCommand(rule, part) : 'no';
      if (match === 'yes') return { source, isCertain: true };
      if (match === 'maybe') possible ??= source;
    }
  }
  return possible === null ? null : { source: possible, isCertain: false };
}

/**
 * Programs whose arguments can name neither a program to run nor a file to write, with the subcommands for which that
 * is true; `nestedCommand` recognises the one option of git and those of `test` that could. Only for these does
 * "always" cover other arguments; for any other program it covers the exact command.
 */
const READ_ONLY = new Set([
  ...'ls cat head tail wc grep egrep fgrep stat du df pwd whoami uname id which basename dirname realpath readlink'.split(
    ' ',
  ),
  ...'diff cmp cut tr nl tac md5sum sha1sum sha256sum jq test echo'.split(' '),
  ...['git status', 'git log', 'git diff', 'git show', 'git blame', 'git shortlog', 'git ls-files', 'git ls-tree'],
  ...['git rev-parse', 'git rev-list', 'git describe', 'git stash list', 'git stash show', 'git reflog show'],
  ...['git tag --list', 'git worktree list'],
]);

/** No entry of the table has more words than this. */
const MOST_WORDS = 3;

/**
 * The rule that "always" stores for a command line in which `uncovered` has no rule yet. Null when none would allow it
 * the next time. `tool` is the name that rules about commands begin with.
 */
export function suggestCommandRule(tool: string, command: string, uncovered: readonly ShellPart[]): string | null {
  const [part, ...others] = uncovered;
  const prefix = part?.kind === 'command' && others.length === 0 ? prefixOf(part) : null;
  const text = prefix === null ? exactText(command, uncovered) : `${prefix}:*`;
  return text === null ? null : `${tool}(${text})`;
}

function prefixOf({ assignments, words, inner, uncertainty }: Extract<ShellPart, { kind: 'command' }>): string | null {
  const values = words.slice(0, MOST_WORDS).map(({ value }) => value ?? '\0');
  if (assignments.length > 0 || inner !== null || uncertainty !== null) return null;
  const [name = '', ...rest] = values;
  // A program of the same name in another folder may be a different one.
  if (name !== basename(name)) return null;
  const prefixes = [name, ...rest.map((_, index) => [name, ...rest.slice(0, index + 1)].join(' '))];
  return prefixes.find((prefix) => READ_ONLY.has(prefix)) ?? null;
}

function exactText(command: string, uncovered: readonly ShellPart[]): string | null {
  const text = command.trim();
  const isShort =
    text.length <= 200 && !/[\u0000-\u001f\u007f-\u009f]/.test(text) && !text.endsWith(':*') && text !== '*';
  return isShort && !uncovered.some(isUnclear) ? text : null;
}

function isUnclear(part: ShellPart): boolean {
  return part.kind === 'unclear' || (part.kind === 'command' && part.uncertainty?.mayHideCommands === true);
}
