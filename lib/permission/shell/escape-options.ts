import { escapingSedWord } from './sed-script.js';
import type { ShellWord } from './shell-word.js';

/** The options by which a program runs or writes something that its first words do not show. */
interface EscapeOptions {
  /** Long options, also when abbreviated, as getopt accepts them. */
  readonly long: readonly string[];
  /** Other words with that effect: clusters of short options, subcommands, scripts. */
  readonly words: RegExp;
  /** Options with that effect before the subcommand. */
  readonly global?: RegExp;
  /** Options before the subcommand whose value is the next word. */
  readonly globalWithValue?: RegExp;
  /** Options with that effect after this subcommand. */
  readonly bySubcommand?: Readonly<Record<string, RegExp>>;
  /** Whether any word of unknown value may have that effect: scripts, and letters without a dash. */
  readonly unknownWordEscapes?: true;
  /** Operands after this many are files that it writes to. */
  readonly writtenFromOperand?: number;
  /** Whether the words after `--` go to another program. */
  readonly endsAtDoubleDash?: true;
}

// From the manual pages of git 2.39, GNU tar 1.34, rsync 3.2, OpenSSH 9.2, GNU coreutils 9.1, awk (POSIX), ripgrep 14, fd 10, tree 2.1,
// less 590, file 5.44, yq 4, procps 4, npm 11, pnpm 9, yarn 1.22, cargo 1.80, go 1.22, kubectl 1.30, helm 3, apt 2.6, curl 7.88 and wget 1.21.
const NO_WORD = /(?!)/;
const ESCAPE_OPTIONS: Readonly<Record<string, EscapeOptions>> = {
  git: {
    long: [
      '--config-env',
      '--exec-path',
      '--upload-pack',
      '--receive-pack',
      '--exec',
      '--open-files-in-pager',
      '--output',
      '--ext-diff',
      '--extcmd',
      '--textconv',
      '--template',
      '--editor',
      '--unsafe-paths',
    ],
    global: /^-[cx]/,
    globalWithValue: /^(-[Cc]|--(git-dir|work-tree|namespace|super-prefix|attr-source))$/,
    bySubcommand: { clone: /^-[A-Za-z]*[cu]/, grep: /^-[A-Za-z]*O/, rebase: /^-[A-Za-z]*x/ },
    words:
      /^(-x|-O.*|-u.*\/.*|config|filter-branch|foreach|run|mergetool|difftool|send-email|hook|credential.*|maintenance|ext::.*)$/,
  },
  tar: {
    long: [
      '--to-command',
      '--checkpoint-action',
      '--use-compress-program',
      '--rsh-command',
      '--rmt-command',
      '--info-script',
      '--new-volume-script',
      '--absolute-names',
    ],
    words: /^-?[A-Za-z]*[IF]|^(-[A-Za-z]*|[crtux][a-zA-Z]*)P[A-Za-z]*$/,
    unknownWordEscapes: true,
  },
  rsync: { long: ['--rsh', '--rsync-path'], words: /^-[A-Za-z]*[eM]/ },
  ssh: { long: [], words: /^-[A-Za-z0-9]*[oEFIw]/ },
  scp: { long: [], words: /^-[A-Za-z0-9]*[oFSD]/ },
  sort: { long: ['--output', '--compress-program'], words: /^-[A-Za-z]*o/ },
  awk: {
    long: [
      ...['--file', '--include', '--load', '--exec', '--inplace'],
      ...['--dump-variables', '--pretty-print', '--profile', '--debug'],
    ],
    words: /system[\s\\]*\(|[|>]|getline|@|^-[dfilopDEW]/,
    unknownWordEscapes: true,
  },
  man: { long: ['--pager', '--html'], words: /^-[A-Za-z]*[PH]/ },
  rg: { long: ['--pre', '--hostname-bin'], words: NO_WORD },
  fd: { long: ['--exec', '--exec-batch'], words: /^-[A-Za-z]*[xX]/ },
  tree: { long: [], words: /^-[A-Za-z]*[oR]/ },
  less: {
    long: ['--log-file', '--LOG-FILE', '--lesskey-file', '--lesskey-src', '--lesskey-content'],
    words: /^-[A-Za-z]*[oOk]|^\+/,
  },
  uniq: { long: [], words: NO_WORD, writtenFromOperand: 1 },
  date: { long: ['--set'], words: /^-[IRu]*s|^\d/ },
  file: { long: ['--compile', '--magic-file'], words: /^-[A-Za-z]*[Cm]/ },
  yq: { long: ['--inplace', '--in-place', '--split-exp', '--split-exp-file'], words: /^-[A-Za-z]*[is]|load/ },
  zip: { long: ['--unzip-command'], words: /^-[A-Za-z]*T/ },
  // Letters without a dash, an `e` among them: the environment of every process.
  ps: { long: [], words: /^(?=.*e)[aAceghHjklLmnNoOpqrsStTuUvVwxXZ]+$|^-[A-Za-z]*E/ },
  jobs: { long: [], words: /^-[a-z]*x/ },
  compgen: { long: [], words: /^-[A-Za-z]*[CFW]/ },
  npm: {
    long: [
      ...['--script-shell', '--node-options', '--userconfig', '--call', '--git', '--editor', '--viewer', '--browser'],
      ...['--init-module', '--config', '--shell-mode', '--use-yarnrc', '--prefix', '--dir', '--cwd'],
    ],
    words: /^(-[cC]$|--globalc)/,
    endsAtDoubleDash: true,
  },
  cargo: { long: ['--config'], words: NO_WORD, endsAtDoubleDash: true },
  go: { long: [], words: /^--?(toolexec|exec|vettool|overlay)(=|$)/ },
  kubectl: { long: ['--kubeconfig'], words: NO_WORD },
  helm: { long: ['--kubeconfig', '--post-renderer'], words: NO_WORD },
  apt: { long: ['--option', '--config-file'], words: /^-[A-Za-z]*[oc]/ },
  curl: { long: ['--config'], words: /^-[A-Za-z#]*K/ },
  wget: { long: ['--use-askpass', '--execute', '--config'], words: /^-[A-Za-z]*e/ },
};

/** Those of the words above that may run commands which are not in the text. The others only write. */
const HIDES_COMMANDS: Readonly<Record<string, RegExp>> = {
  git: /^(-[cxO]|-[A-Za-z]*[xO]|--(config|exec|up|rec|open|ext|text)|(config|filter-branch|foreach|run)$|ext::)/,
  tar: /^--(to|ch|us|rs|rm|in|ne)|^-?[A-Za-z]*[IF]/,
  rsync: /^(-[A-Za-z]*e|--rs)/,
  ssh: /command/i,
  scp: /command|^-[A-Za-z0-9]*S/i,
  sort: /^--comp/,
  sed: /^(?!-)|^-[nErsuz]*e|^--(e|f)|^-[nErsuz]*f/,
  awk: /system[\s\\]*\(|(^|[^|])\|([^|]|$)|@/,
  man: /^-/,
  rg: /^--/,
  fd: /^-/,
  less: /^\+/,
  zip: /^-/,
  jobs: /^-/,
  compgen: /^-/,
  npm: /^-/,
  cargo: /^--config/,
  go: /^-/,
  kubectl: /^--kubec/,
  helm: /^--(kubec|post)/,
  apt: /^-/,
  wget: /^-/,
};

const ALIASES: Readonly<Record<string, string>> = {
  gawk: 'awk',
  mawk: 'awk',
  nawk: 'awk',
  gsed: 'sed',
  gtar: 'tar',
  fdfind: 'fd',
  bsdtar: 'tar',
  pnpm: 'npm',
  yarn: 'npm',
  'apt-get': 'apt',
};

/** What the first words of a command leave open. */
export interface Uncertainty {
  readonly reason: string;
  /** The position of the word it is about: a rule whose prefix includes this word accepts it. Infinity where only an exact rule does. */
  readonly index: number;
  /** Whether commands may run that are not in the text. */
  readonly mayHideCommands: boolean;
}

/** The uncertainty about the last escape option in a command; null where there is none, and for programs that are not in the table. */
export function uncertaintyAboutOptions(program: string, words: readonly ShellWord[]): Uncertainty | null {
  const name = ALIASES[program] ?? program;
  const index = name === 'sed' ? escapingSedWord(words) : escapingWord(name, words);
  if (index === -1) return null;
  const candidates = name === 'sed' ? [words[index]] : words.slice(1);
  const mayHideCommands = candidates.some((word) => HIDES_COMMANDS[name]?.test(word?.value ?? '') === true);
  return { index, mayHideCommands, reason: `${program} may run or write something else with ${words[index]?.text}` };
}

function escapingWord(name: string, words: readonly ShellWord[]): number {
  const options = Object.hasOwn(ESCAPE_OPTIONS, name) ? ESCAPE_OPTIONS[name] : undefined;
  if (options === undefined) return -1;
  const end = words.findIndex(({ value }) => value === '--');
  const operands = words.flatMap((word, index) => (isOperand(word, index, end) ? [index] : []));
  const subcommand = operands.find((index) => !options.globalWithValue?.test(words[index - 1]?.value ?? '')) ?? -1;
  const afterSubcommand = options.bySubcommand?.[words[subcommand]?.value ?? ''];
  return words.findLastIndex(({ value, text, mayBeOption }, position) => {
    if (position === 0 || (options.endsAtDoubleDash === true && end !== -1 && position > end)) return false;
    if (options.writtenFromOperand !== undefined && operands.indexOf(position) >= options.writtenFromOperand)
      return true;
    if (value === null)
      return mayBeOption || options.unknownWordEscapes === true || options.words.test(text.replace(/["']/g, ''));
    const place = position < subcommand ? options.global : position > subcommand ? afterSubcommand : undefined;
    return isEscapeOption(value, options) || place?.test(value) === true;
  });
}

/** A single dash is an operand, and so is everything after `--`. */
function isOperand({ value }: ShellWord, index: number, end: number): boolean {
  if (end !== -1 && index >= end) return index > end;
  return index > 0 && (value === '-' || !value?.startsWith('-'));
}

function isEscapeOption(value: string, { long, words }: EscapeOptions): boolean {
  if (words.test(value)) return true;
  const option = value.split('=')[0] ?? '';
  return option.length > '--'.length && long.some((name) => name.startsWith(option));
}
