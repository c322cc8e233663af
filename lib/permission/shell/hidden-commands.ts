import { mayDoOthersWork } from './git-commands.js';
import { programName } from './program-name.js';
import { isSed, sedCommand } from './sed-command.js';
import type { ShellWord } from './shell-word.js';

/** Programs that run no other, whatever their arguments are. */
const INERT = new Set(
  'cat head tail wc grep egrep fgrep ls stat du df diff cmp uniq cut tr nl tac jq od strings md5sum sha1sum sha256sum basename dirname realpath readlink which type test [ echo printf true false : pwd cd read set exit return sleep date ps cp mv rm ln tee dd touch truncate mkdir rmdir chmod chown shred kill wait id whoami uname seq'.split(
    ' ',
  ),
);

/** The arguments that make a known program run commands that are not words of the line. */
const HIDING_WORDS: Readonly<Record<string, RegExp>> = {
  git: /^(-[cxO]|-[A-Za-z]*[xO]|--(config|exec|up|rec|open|ext|text)|(config|filter-branch|foreach|run|bisect|submodule|difftool|mergetool)$|(--remote=)?ext::)/,
  tar: /^--(to|ch|us|rs|rm|in|ne)|^-?[A-Za-z]*[IF]/,
  rsync: /^(-[A-Za-z]*e|--rs)/,
  ssh: /command/i,
  scp: /command|^-[A-Za-z0-9]*S/i,
  sort: /^--comp/,
  awk: /system[\s\\]*\(|(^|[^|])\|([^|]|$)|@|^-[a-zA-Z]*[fiEl]|^--(f|i|e|l)/,
  rg: /^--(pre|hostname)/,
  fd: /^-[A-Za-z]*[xX]|^--exec/,
  less: /^\+/,
  npm: /^--?-?(script-sh|node-op|call|c$|git|editor|viewer)|^(exec|x|explore|dlx|create|init)$/,
  cargo: /^--config/,
  go: /^--?(toolexec|exec|vettool)/,
};

const ALIASES: Readonly<Record<string, string>> = {
  gawk: 'awk',
  mawk: 'awk',
  nawk: 'awk',
  gtar: 'tar',
  fdfind: 'fd',
  bsdtar: 'tar',
  pnpm: 'npm',
  yarn: 'npm',
};

/** Programs that run what they read when they are given no file. */
const INTERPRETER =
  /^(python[\d.]*|pypy\d*|perl[\d.]*|ruby[\d.]*|node|nodejs|bun|deno|php|lua[\d.]*|tclsh|expect|R|Rscript|osascript|newgrp|sg|ed|ex|gdb|lldb|sqlite3|psql|mysql|irb|ghci|at|m4)$/;

/** Programs that run the commands on their input though they are given a file. */
const COMMANDED = /^(?:ed|red|ex|vi|vim|view|nvim|emacs|gdb|lldb)$/;

/** The interpreters of languages, and what gives one its program as a word. */
const LANGUAGE = /^(?:python|pypy|perl|ruby|node|bun|deno|php|lua|tclsh|expect|osascript|ghci|R)/;
const GIVES_CODE = /^-[A-Za-z]*[cepEr]|^--(?:eval|print|run)|^eval$/;

/** What code in a word looks like. URLs are not code. */
const CODE = /[`;|&!(){}$<>\n]/;
const ADDRESS = /^[a-z+]+:\/\/[^\s`()$;|!<>]*$/i;

const nameOf = (words: readonly ShellWord[]): string => {
  const name = programName(words[0]?.value ?? '');
  return Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? name) : name;
};

/** Whether a program is known to run no other, whatever its arguments are. */
export function isInert(words: readonly ShellWord[]): boolean {
  return INERT.has(nameOf(words));
}

/** Whether a program with these words may run commands that are not among them, so that `deny` cannot be sure. */
export function mayHideCommand(words: readonly ShellWord[]): boolean {
  const name = nameOf(words);
  const rest = words.slice(1);
  if (INERT.has(name)) return false;
  if (name.startsWith('git-') || (name === 'git' && mayDoOthersWork(words))) return true;
  if (isSed(words)) return mayHideInSed(words);
  const hiding = Object.hasOwn(HIDING_WORDS, name) ? HIDING_WORDS[name] : undefined;
  if (hiding !== undefined)
    return rest.some(({ value, mayBeOption }) => (value === null ? mayBeOption : hiding.test(value)));
  if (COMMANDED.test(name)) return true;
  if (isInterpreter(words) && mayHideInInterpreter(name, rest)) return true;
  return rest.some(({ value }) => value === null || (CODE.test(value) && !ADDRESS.test(value)));
}

function mayHideInInterpreter(name: string, rest: readonly ShellWord[]): boolean {
  const isScript = ({ value }: ShellWord): boolean => value !== null && /^[^-]/.test(value);
  const script = rest.findIndex(isScript);
  if (script === -1) return true;
  // With a database and no statement it reads its input, and a word such as `.shell` is a command of its own.
  if (name === 'sqlite3')
    return rest.filter(isScript).length < 2 || rest.some(({ value }) => /^\s*\./.test(value ?? ''));
  return LANGUAGE.test(name) && rest.slice(0, script + 1).some(({ value }) => GIVES_CODE.test(value ?? ''));
}

function mayHideInSed(words: readonly ShellWord[]): boolean {
  const { runs, isClear, isKnown } = sedCommand(words);
  return runs.length > 0 || !isClear || !isKnown;
}

/** Whether a program runs the code in a file that it is given. */
export function isInterpreter(words: readonly ShellWord[]): boolean {
  return INTERPRETER.test(nameOf(words));
}

/** Whether a program is neither inert nor known, so that its arguments may be commands of any kind. */
export function isUnknownProgram(words: readonly ShellWord[]): boolean {
  const name = nameOf(words);
  return !INERT.has(name) && !isSed(words) && (name === 'ssh' || !Object.hasOwn(HIDING_WORDS, name));
}

/** Variables that tell programs what to run, and those that the shell itself reads. */
const TELLING_VARIABLE =
  /^(?:GIT_|LD_|DYLD_|BASH|PERL5|PYTHON|RUBY|NODE_OPTIONS|JAVA_|_JAVA|MAKE|GNUMAKE|LESS|MAN|PS[0-4]$|ENV$|IFS$|CDPATH$|GLOBIGNORE$|SHELLOPTS$)|(?:PATH|COMMAND|PAGER|EDITOR|VISUAL|BROWSER|SHELL|OPTS?|OPTIONS|FLAGS|WRAPPER|PRELOAD|PROGRAM|HELPER|ASKPASS|CMD|RC|HOME|DIR)$/;

/** Whether a variable that is set for one command may make it run another: by its name, or because its value is not a plain word. */
export function mayTellWhatRuns({ value }: ShellWord): boolean {
  const equals = value?.indexOf('=') ?? -1;
  if (value === null || equals === -1) return true;
  const name = value.slice(0, equals).replace('+', '');
  return TELLING_VARIABLE.test(name) || !/^[\w.,:/@%+-]*$/.test(value.slice(equals + 1));
}
