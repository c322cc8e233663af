import type { ShellWord } from './shell-word.js';

/**
 * Subcommands of git that do only their own work. Any other word may be an alias, an external program (`git-x`), or one of the commands that
 * these are built from (`send-pack`).
 */
const PLAIN = new Set(
  [
    'add am annotate apply archive bisect blame branch cat-file check-attr check-ignore check-mailmap checkout cherry cherry-pick clean clone commit',
    'config count-objects describe diff diff-files diff-index diff-tree difftool fetch for-each-ref format-patch fsck gc grep hash-object help init',
    'log ls-files ls-remote ls-tree merge merge-base merge-file merge-tree mergetool mv name-rev notes prune pull push range-diff rebase reflog',
    'remote repack replace request-pull rerere reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref sparse-checkout stage',
    'stash status stripspace submodule switch symbolic-ref tag var verify-commit verify-tag version whatchanged worktree',
  ].flatMap((names) => names.split(' ')),
);

/** The other subcommands whose work each of these also does. */
const ALSO: ReadonlyMap<string | null, readonly string[]> = new Map(
  Object.entries({
    am: ['commit', 'apply'],
    'cherry-pick': ['commit'],
    clone: ['fetch', 'checkout'],
    merge: ['commit'],
    pull: ['fetch', 'merge', 'rebase', 'commit'],
    rebase: ['commit', 'checkout', 'reset'],
    remote: ['fetch'],
    restore: ['checkout'],
    revert: ['commit'],
    stage: ['add'],
    switch: ['checkout'],
    whatchanged: ['log'],
  }),
);

/** Options before the subcommand whose value is the next word. */
const VALUED: ReadonlySet<string | null> = new Set([
  '-C',
  '-c',
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--super-prefix',
  '--config-env',
]);

/** The subcommand of a command of git; null if there is none. */
function subcommandOf(words: readonly ShellWord[]): string | null {
  let isValue = false;
  for (const { value } of words.slice(1)) {
    if (!isValue && value?.startsWith('-') !== true) return value ?? '';
    isValue = !isValue && VALUED.has(value);
  }
  return null;
}

/** Whether a git command may do the work of an unknown other subcommand. */
export function mayDoOthersWork(words: readonly ShellWord[]): boolean {
  const name = subcommandOf(words);
  if (name === null) return false;
  return !PLAIN.has(name) || (name === 'clone' && words.some(({ value }) => /^-\w*u/.test(value ?? '')));
}

/** Whether a git command also does the work of this subcommand. */
export function alsoDoes(words: readonly ShellWord[], subcommand: string): boolean {
  return ALSO.get(subcommandOf(words))?.includes(subcommand) === true;
}
