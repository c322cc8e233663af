import { basename } from 'node:path';
import { hiddenCommand, type NestedCommand, NOTHING, nestedFrom, unclearEffect } from './nested.js';
import { hasOnlyBashSyntax, parsedDifferently } from './only-bash.js';
import { type ShellWord, UNKNOWN_WORD } from './shell-word.js';
import { isWrapper, wrappedCommand } from './wrapper-command.js';

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
