import { tellingSedWord } from './sed-script.js';
import type { ShellWord } from './shell-word.js';

/** How one program can be made to run or write something else than its first words say. */
interface Telling {
  /** Long options, found by any beginning, as getopt does. */
  readonly long: readonly string[];
  /** Words that tell it: clusters of short options, subcommands, scripts. */
  readonly words: RegExp;
  /** Options that tell it before the first word that is none. */
  readonly first?: RegExp;
  /** Options whose value is the next word, before the subcommand. */
  readonly valued?: RegExp;
  /** Options that tell it behind this subcommand. */
  readonly behind?: Readonly<Record<string, RegExp>>;
  /** Whether any word that is not known may tell it: scripts, and letters without a dash. */
  readonly unknown?: true;
  /** Words that are no options beyond this many are written to. */
  readonly operands?: number;
}

// From the manual pages of git 2.39, GNU tar 1.34, rsync 3.2, OpenSSH 9.2, GNU coreutils 9.1, awk (POSIX), ripgrep 14, fd 10, tree 2.1,
// less 590, file 5.44 and yq 4.
const NO_WORD = /(?!)/;
const TELLING: Readonly<Record<string, Telling>> = {
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
    ],
    first: /^-[cx]/,
    valued: /^(-[Cc]|--(git-dir|work-tree|namespace|super-prefix|attr-source))$/,
    behind: { clone: /^-[A-Za-z]*[cu]/ },
    words: /^(-x|-O.*|-u.*\/.*|config|filter-branch|foreach|run|mergetool|difftool|send-email|hook|ext::.*)$/,
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
    ],
    words: /^-?[A-Za-z]*[IF]/,
    unknown: true,
  },
  rsync: { long: ['--rsh', '--rsync-path'], words: /^-[A-Za-z]*[eM]/ },
  ssh: { long: [], words: /^-[A-Za-z0-9]*[oFIw]/ },
  scp: { long: [], words: /^-[A-Za-z0-9]*[oFSD]/ },
  sort: { long: ['--output', '--compress-program'], words: /^-[A-Za-z]*o/ },
  awk: {
    long: ['--file', '--include', '--load', '--exec', '--inplace'],
    words: /system\s*\(|[|>]|getline|@|^-[filE]/,
    unknown: true,
  },
  man: { long: ['--pager', '--html'], words: /^-[A-Za-z]*[PH]/ },
  rg: { long: ['--pre', '--hostname-bin'], words: NO_WORD },
  fd: { long: ['--exec', '--exec-batch'], words: /^-[A-Za-z]*[xX]/ },
  tree: { long: [], words: /^-[A-Za-z]*[oR]/ },
  less: {
    long: ['--log-file', '--LOG-FILE', '--lesskey-file', '--lesskey-src', '--lesskey-content'],
    words: /^-[A-Za-z]*[oOk]|^\+/,
  },
  uniq: { long: [], words: NO_WORD, operands: 1 },
  date: { long: ['--set'], words: /^-[IRu]*s|^\d/ },
  file: { long: ['--compile', '--magic-file'], words: /^-[A-Za-z]*[Cm]/ },
  yq: { long: ['--inplace', '--in-place', '--split-exp', '--split-exp-file'], words: /^-[A-Za-z]*[is]/ },
  zip: { long: ['--unzip-command'], words: /^-[A-Za-z]*T/ },
};

/** Words of these by which commands may run that nobody sees. The others among the telling words write. */
const HIDING: Readonly<Record<string, RegExp>> = {
  git: /^(-[cxO]|--(config|exec|up|rec|open|ext|text)|(config|filter-branch|foreach|run)$|ext::)/,
  tar: /^--(to|ch|us|rs|rm|in|ne)|^-?[A-Za-z]*[IF]/,
  rsync: /^(-[A-Za-z]*e|--rs)/,
  ssh: /command/i,
  scp: /command|^-[A-Za-z0-9]*S/i,
  sort: /^--comp/,
  sed: /^(?!-)|^-[nErsuz]*e|^--(e|f)|^-[nErsuz]*f/,
  awk: /system\s*\(|(^|[^|])\|([^|]|$)|@/,
  man: /^-/,
  rg: /^--/,
  fd: /^-/,
  less: /^\+/,
  zip: /^-/,
};

const SAME: Readonly<Record<string, string>> = {
  gawk: 'awk',
  mawk: 'awk',
  nawk: 'awk',
  gsed: 'sed',
  gtar: 'tar',
  fdfind: 'fd',
  bsdtar: 'tar',
};

/** What cannot be told about a command from its first words. */
export interface Doubt {
  readonly reason: string;
  /** A rule whose prefix names the word here has said so itself. Infinity where only an exact rule can. */
  readonly index: number;
  /** Whether other commands may run that nobody sees. */
  readonly hides: boolean;
}

/** The doubt about the last word by which a program does more than its first words say; null when there is none, and for programs that are not known. */
export function doubtAboutOptions(program: string, words: readonly ShellWord[]): Doubt | null {
  const name = SAME[program] ?? program;
  const index = name === 'sed' ? tellingSedWord(words) : tellingWord(name, words);
  if (index === -1) return null;
  const looked = name === 'sed' ? [words[index]] : words.slice(1);
  const hides = looked.some((word) => HIDING[name]?.test(word?.value ?? '') === true);
  return { index, hides, reason: `${program} may run or write something else by ${words[index]?.text}` };
}

function tellingWord(name: string, words: readonly ShellWord[]): number {
  const telling = Object.hasOwn(TELLING, name) ? TELLING[name] : undefined;
  if (telling === undefined) return -1;
  const operands = words.flatMap(({ value }, index) => (index > 0 && !value?.startsWith('-') ? [index] : []));
  const subcommand = operands.find((index) => !telling.valued?.test(words[index - 1]?.value ?? '')) ?? -1;
  const behind = telling.behind?.[words[subcommand]?.value ?? ''];
  return words.findLastIndex(({ value, text, mayBeOption }, position) => {
    if (position === 0) return false;
    if (telling.operands !== undefined && operands.indexOf(position) >= telling.operands) return true;
    if (value === null) return mayBeOption || telling.unknown === true || telling.words.test(text.replace(/["']/g, ''));
    const place = position < subcommand ? telling.first : position > subcommand ? behind : undefined;
    return tells(value, telling) || place?.test(value) === true;
  });
}

function tells(value: string, { long, words }: Telling): boolean {
  if (words.test(value)) return true;
  const option = value.split('=')[0] ?? '';
  return option.length > '--'.length && long.some((name) => name.startsWith(option));
}
