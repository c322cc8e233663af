import { basename } from 'node:path';
import type { ShellPart } from '../shell/read-command.js';

/**
 * Programs whose arguments can name neither a program to run nor a file to write, with the subcommands for which that is true; `nestedCommand` recognises the
 * one option of git and those of `test` that could. Only for these does "always" cover other arguments; for any other program it covers the exact command.
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
 * The rule that "always" stores for a command line in which `uncovered` has no rule yet. Null when none would allow it the next time.
 * `tool` is the name that rules about commands begin with.
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
