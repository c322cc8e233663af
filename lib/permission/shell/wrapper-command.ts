import { hiddenCommand, type NestedCommand, NOTHING, nestedFrom } from './nested.js';
import { type ShellWord, UNKNOWN_WORD } from './shell-word.js';

/**
 * The options of a program that runs the rest of its words: letters without and with a value, and long options without one. `skip` operands come before the
 * command.
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
export function isWrapper(program: string): boolean {
  return Object.hasOwn(WRAPPERS, program);
}

/** Finds the command after the options of a wrapper. An unknown option may have any effect, so the command is then hidden. */
export function wrappedCommand(program: string, words: readonly ShellWord[]): NestedCommand {
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

/** The words of the command that xargs runs: those from its input are unknown, and come at the end or replace the placeholder. */
function xargsWords(words: readonly ShellWord[], placeholder: string | null): readonly ShellWord[] {
  if (placeholder === null) return [...words, UNKNOWN_WORD];
  return words.map((word) => {
    const isReplaced = word.value === null || word.value.includes(placeholder);
    return isReplaced ? { ...word, value: null, mayBeOption: true } : word;
  });
}
