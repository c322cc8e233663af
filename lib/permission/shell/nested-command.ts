import { basename } from 'node:path';
import type { SyntaxNode } from 'unbash';
import { type ShellName, type ShellWord, UNKNOWN_WORD } from './shell-word.js';

const SHELLS = new Set(['bash', 'sh', 'dash', 'zsh', 'ksh', 'mksh', 'ash', 'rbash']);

/** Builtins that change what later words mean. */
const STATE_BUILTINS: Readonly<Record<string, string>> = {
  declare: 'it sets variables',
  typeset: 'it sets variables',
  local: 'it sets variables',
  readonly: 'it sets variables',
  export: 'it sets variables of other programs',
  unset: 'it removes variables or functions',
  let: 'it calculates with variables',
  shopt: 'it changes how bash parses commands',
  bind: 'it changes how bash parses commands',
  complete: 'it changes how bash parses commands',
  alias: 'it gives other commands a new meaning',
  enable: 'it gives other commands a new meaning',
  hash: 'it gives other commands a new meaning',
};

/** Programs that run other commands in special ways. */
const RUNNERS = new Set(
  'fc parallel watch su runuser pkexec chroot unshare nsenter script flock fish csh tcsh pwsh screen tmux at batch crontab'.split(
    ' ',
  ),
);

/** Paths of standard input and other open files. */
const STANDARD_INPUT = /^\/(dev\/(stdin|fd\/)|proc\/.*\/fd\/)/;
const READS_SCRIPT = 'the shell runs its input';

/** Builtins that evaluate the name of a variable, where a value such as `a[$(date)]` runs a command. */
const LINE_READERS = new Set(['mapfile', 'readarray']);
const NAME_READERS = new Set(['test', '[', 'printf', 'read', ...LINE_READERS, 'getopts', 'wait']);

/** Finds the command that a command runs, so that both are judged. */
export function nestedCommand(words: readonly ShellWord[]): NestedCommand {
  const name = words[0]?.value ?? null;
  if (name === null || name === '') return hiddenCommand('it is unclear which program runs');
  const program = basename(name);
  const setter = Object.hasOwn(STATE_BUILTINS, program) ? STATE_BUILTINS[program] : undefined;
  if (setter !== undefined) return hiddenCommand(setter);
  if (RUNNERS.has(program)) return hiddenCommand(`${program} runs other commands`);
  if (program === 'eval') return evalCommand(words);
  if (program === 'trap') return trapCommand(words);
  if (program === 'set') return setCommand(words);
  if (program === 'source' || program === '.')
    return STANDARD_INPUT.test(words[1]?.value ?? '') ? hiddenCommand(READS_SCRIPT) : scriptFile(words, 1);
  if (program === 'find') return findCommand(words);
  if (program === 'git' || program.startsWith('git-')) return gitCommand(words);
  if (SHELLS.has(program)) return shellCommand(program, words);
  if (isWrapper(program)) return wrappedCommand(program, words);
  if (NAME_READERS.has(program)) return nameReader(program, words);
  return NOTHING;
}

function evalCommand(words: readonly ShellWord[]): NestedCommand {
  const values = words.slice(1).map((word) => word.value);
  if (values.includes(null)) return hiddenCommand('it evaluates text that is not part of the command');
  return { kind: 'script', start: words.length, script: values.join(' ') };
}

function trapCommand(words: readonly ShellWord[]): NestedCommand {
  const action = words[1]?.value ?? null;
  if (words.length === 1 || action === '-') return NOTHING;
  return action === null
    ? hiddenCommand('it sets a trap whose text is not part of the command')
    : { kind: 'script', start: words.length, script: action };
}

// Allexport and keyword would turn harmless assignments into the environment of other programs.
function setCommand(words: readonly ShellWord[]): NestedCommand {
  const plain = words
    .slice(1)
    .every(
      ({ value }) =>
        value !== null && /^([-+][befhmnuvxCEHPT]*o?|pipefail|errexit|nounset|xtrace|noglob|noclobber)$/.test(value),
    );
  return plain ? NOTHING : hiddenCommand('it changes how bash parses commands');
}

// Every subcommand that lists commits or changes takes the options of `git diff`, and any beginning of their names.
function gitCommand(words: readonly ShellWord[]): NestedCommand {
  const option = words.find(({ value }) => /^--(ou|ext(-|$))/.test(value ?? ''))?.value ?? null;
  return option === null ? NOTHING : unclearEffect(`git ${option} may write a file or run a program`);
}

function findCommand(words: readonly ShellWord[]): NestedCommand {
  if (words.some((word) => word.value === null && word.mayBeOption))
    return hiddenCommand('find may run or delete something');
  const values = words.map((word) => word.value ?? '');
  const action = values.find((value) => /^-(delete|execdir|okdir|fprint.*|fls)$/.test(value));
  if (action !== undefined) return unclearEffect(`find ${action} changes or runs something`);
  const first = values.findIndex((value) => value === '-exec' || value === '-ok');
  if (first === -1) return NOTHING;
  const end = values.findIndex(
    (value, index) => index > first && (value === ';' || (value === '+' && values[index - 1] === '{}')),
  );
  if (end === -1 || values.slice(end).some((value) => value === '-exec' || value === '-ok'))
    return hiddenCommand('find runs several commands');
  // The value is unknown, because find inserts the names of files.
  const inner = words
    .slice(first + 1, end)
    .map((word) => (word.value?.includes('{}') ? { ...word, value: null } : word));
  return { kind: 'words', start: first + 1, assignments: [], words: inner };
}

function shellCommand(program: string, words: readonly ShellWord[]): NestedCommand {
  for (let index = 1; index < words.length; index += 1) {
    const { value, mayBeOption } = words[index] ?? UNKNOWN_WORD;
    if (value === null && mayBeOption) return hiddenCommand('the arguments of the shell are unclear');
    if (STANDARD_INPUT.test(value ?? '')) return hiddenCommand(READS_SCRIPT);
    if (value === null || !/^[-+]/.test(value)) return scriptFile(words, index);
    if (/^--(version|help)$/.test(value)) return NOTHING;
    if (/^--(norc|noprofile|posix|login)$/.test(value)) continue;
    if (/^[-+][eux]*o$/.test(value)) index += 1;
    else if (/^-[eilux]*c$/.test(value)) {
      const script = words[index + 1]?.value ?? null;
      if (script === null) return hiddenCommand('it runs a script whose text is not part of the command');
      const shell = program.endsWith('bash') ? 'bash' : 'sh';
      if (shell === 'sh' && hasOnlyBashSyntax(script)) return hiddenCommand(parsedDifferently(program));
      return { kind: 'script', start: words.length, script, shell };
    } else if (!/^[-+][eilnuvx]+$/.test(value)) return hiddenCommand(`the shell option ${value} is not known`);
  }
  return hiddenCommand(READS_SCRIPT);
}

/** A script is a file: `bash ls` runs the one called `ls` in the working folder, not the program. */
function scriptFile(words: readonly ShellWord[], start: number): NestedCommand {
  const named = words.map((word, index) => {
    const isName = index === start && word.value !== null && !word.value.includes('/');
    return isName ? { ...word, value: `./${word.value}` } : word;
  });
  return nestedFrom(named, start, []);
}

function nameReader(program: string, words: readonly ShellWord[]): NestedCommand {
  const rest = words.slice(1);
  if (LINE_READERS.has(program) && rest.some(({ value }) => value === null || /^-[A-Za-z]*C/.test(value)))
    return hiddenCommand(`${program} may run a command for each line`);
  if (program === 'printf' && rest[0]?.mayBeOption === false) return NOTHING;
  const plain = rest.every(({ value }) => value !== null && !value.includes('[') && !/^-[vR]/.test(value));
  const sets =
    program !== 'test' && program !== '[' && rest.some(({ value }) => !/^-|^[a-z_][a-z0-9_]*$/.test(value ?? ''));
  return plain && !sets ? NOTHING : hiddenCommand(`${program} may evaluate its arguments`);
}

/**
 * The options of a program that runs the rest of its words: letters without and with a value, and long options without
 * one. `skip` operands come before the command.
 */
interface WrapperOptions {
  readonly flags?: string;
  readonly valued?: string;
  readonly long?: readonly string[];
  readonly skip?: number;
}

const WRAPPERS: Readonly<Record<string, WrapperOptions>> = {
  builtin: {},
  busybox: {},
  caffeinate: { flags: 'dimsu' },
  chronic: {},
  command: { flags: 'p' },
  doas: { flags: 'n', valued: 'u' },
  eatmydata: {},
  env: { flags: 'i0', valued: 'u', long: ['--ignore-environment', '--null'] },
  exec: { flags: 'cl', valued: 'a' },
  fakeroot: {},
  gosu: { skip: 1 },
  ionice: { flags: 't', valued: 'cn' },
  linux32: {},
  linux64: {},
  ltrace: { flags: 'fcC', valued: 'es' },
  nice: { flags: '0123456789', valued: 'n' },
  nohup: {},
  setsid: { flags: 'cfw', long: ['--wait', '--fork', '--ctty'] },
  'ssh-agent': {},
  stdbuf: { valued: 'ioe' },
  strace: { flags: 'fcCqrtTvxy', valued: 'eps' },
  'su-exec': { skip: 1 },
  sudo: { flags: 'nEHPSbA', valued: 'ugp', long: ['--non-interactive', '--preserve-env', '--set-home'] },
  taskset: { flags: 'a', skip: 1 },
  time: { flags: 'p' },
  timeout: { flags: 'v', valued: 'sk', long: ['--foreground', '--preserve-status', '--verbose'], skip: 1 },
  torsocks: {},
  unbuffer: {},
  valgrind: { flags: 'qv' },
  xargs: { flags: '0rtx', valued: 'nPIdLsaE', long: ['--null', '--no-run-if-empty', '--verbose'] },
};

/** Whether a program runs the rest of its words as a command. */
function isWrapper(program: string): boolean {
  return Object.hasOwn(WRAPPERS, program);
}

/**
 * Finds the command after the options of a wrapper. An unknown option may have any effect, so the command is then
 * hidden.
 */
function wrappedCommand(program: string, words: readonly ShellWord[]): NestedCommand {
  const wrapper = WRAPPERS[program] ?? {};
  const assignments: ShellWord[] = [];
  let skip = wrapper.skip ?? 0;
  let placeholder: string | null = null;
  let index = 1;
  for (; index < words.length; index += 1) {
    const word = words[index] ?? UNKNOWN_WORD;
    const { value } = word;
    if (value === null && word.mayBeOption) return hiddenCommand(`the arguments of ${program} are unclear`);
    if (program === 'command' && /^-[pvV]*[vV]/.test(value ?? '')) return NOTHING;
    if (value === '--') {
      index += 1;
      break;
    }
    if (value !== null && /^-./.test(value)) {
      const option = readOption(value, wrapper);
      if (option === null) return hiddenCommand(`the option ${value} of ${program} may run something else`);
      if (option.takesNext) index += 1;
      if (option.letter === 'I') placeholder = option.value ?? words[index]?.value ?? '';
    } else if (isAssignment(program, value)) assignments.push(word);
    else if (skip > 0) skip -= 1;
    else break;
  }
  const found = nestedFrom(words, index, assignments);
  return program === 'xargs' && found.kind === 'words'
    ? { ...found, words: xargsWords(found.words, placeholder) }
    : found;
}

function isAssignment(program: string, value: string | null): boolean {
  return (program === 'env' || program === 'sudo') && value !== null && /^[^-=/][^=/]*=/.test(value);
}

interface Option {
  readonly letter: string;
  /** The value in the same word; null for none there. */
  readonly value: string | null;
  readonly takesNext: boolean;
}

/** Reads a cluster of short options or a long one; null for one that is not known. */
function readOption(word: string, { flags = '', valued = '', long = [] }: WrapperOptions): Option | null {
  if (long.includes(word)) return { letter: '', value: null, takesNext: false };
  for (const [index, letter] of [...word].entries()) {
    if (index === 0) continue;
    const rest = word.slice(index + 1);
    if (valued.includes(letter)) return { letter, value: rest === '' ? null : rest, takesNext: rest === '' };
    if (!flags.includes(letter)) return null;
  }
  return { letter: '', value: null, takesNext: false };
}

/**
 * The words of the command that xargs runs: those from its input are unknown, and come at the end or replace the
 * placeholder.
 */
function xargsWords(words: readonly ShellWord[], placeholder: string | null): readonly ShellWord[] {
  if (placeholder === null) return [...words, UNKNOWN_WORD];
  return words.map((word) => {
    const isReplaced = word.value === null || word.value.includes(placeholder);
    return isReplaced ? { ...word, value: null, mayBeOption: true } : word;
  });
}

/** The facts that the text of a command does not show. */
export interface Uncertainty {
  readonly reason: string;
  /** Whether commands that are not in the text may run. */
  readonly mayHideCommands: boolean;
}

/** The command that a command runs. */
export type NestedCommand =
  | { readonly kind: 'nothing' }
  /** The words from `start` on are a command. */
  | {
      readonly kind: 'words';
      readonly start: number;
      readonly assignments: readonly ShellWord[];
      readonly words: readonly ShellWord[];
    }
  /** One of its words is a script; `shell` is what runs it, absent for the shell that runs the command. */
  | { readonly kind: 'script'; readonly start: number; readonly script: string; readonly shell?: ShellName }
  | ({ readonly kind: 'unclear' } & Uncertainty);

/** It runs no other command. */
const NOTHING: NestedCommand = { kind: 'nothing' };

/** It may run commands that are not in the text. */
const hiddenCommand = (reason: string): NestedCommand => ({
  kind: 'unclear',
  reason,
  mayHideCommands: true,
});

/** It has an effect that a prefix of its words does not show. */
const unclearEffect = (reason: string): NestedCommand => ({
  kind: 'unclear',
  reason,
  mayHideCommands: false,
});

/** The nested command that begins at `start`; `NOTHING` if no word is left. */
function nestedFrom(words: readonly ShellWord[], start: number, assignments: readonly ShellWord[]): NestedCommand {
  const rest = words.slice(start);
  return rest.length === 0 ? NOTHING : { kind: 'words', start, assignments, words: rest };
}

/** Syntax that other shells parse differently: in them `$'…'` ends elsewhere, and `[[ a || b ]]` runs `b`. */
const BASH_SYNTAX = /\$['"[]|\$\{(?!\w+\})|<<|\(\(|\[\[|[<>=]\(|&>|\|&|\bfunction\b/;

/** Whether a text has syntax that shells other than bash parse differently. */
export const hasOnlyBashSyntax = (text: string): boolean => BASH_SYNTAX.test(text);

/** The reason to ask about such a text. */
export const parsedDifferently = (shell: string): string => `${shell} may parse it differently`;

/** Variables that decide what runs in zsh, as `PATH` does in every shell. */
export const ZSH_VARIABLES = /^(?:path|cdpath|fpath|module_path)$/;

/** A descriptor above this has two digits, which are a word in other shells. */
const LAST_DESCRIPTOR = 9;

/**
 * Whether a node means something else in other shells, where `a[0]=./x` and `a+=./x` run a program, `{a,b}` and `~+`
 * are the names of files, `cat 10<x` reads `10`, and `time` and `select` are programs.
 */
export function isOnlyBash(node: SyntaxNode): boolean {
  switch (node.type) {
    case 'Assignment':
      return node.index !== undefined || node.append === true || node.value.type === 'ArrayValue';
    case 'Word':
      return /^~[+-]/.test(node.text) || node.parts?.some(({ type }) => type === 'BraceExpansion') === true;
    case 'Redirect':
      return (
        node.descriptor?.type === 'FileDescriptorVariable' ||
        (node.descriptor !== undefined && node.descriptor.value > LAST_DESCRIPTOR)
      );
    case 'Select':
    case 'Time':
    case 'Coproc':
      return true;
    default:
      return false;
  }
}
