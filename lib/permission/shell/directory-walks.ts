import { basename } from 'node:path';
import type { ShellPart } from './read-command.js';
import type { ShellWord } from './shell-word.js';

type CommandPart = Extract<ShellPart, { kind: 'command' }>;

/** Folders that a command goes through, and which files in them it takes. */
export interface Walk {
  /** Where it begins; empty for the folder it runs in. */
  readonly starts: readonly ShellWord[];
  /** Whether it takes names that begin with a dot. */
  readonly hidden: boolean;
  /** Whether it goes into folders of folders. */
  readonly deep: boolean;
  /** Whether it follows links. */
  readonly follows: boolean;
  /** Patterns of the names it takes; empty for all. */
  readonly only: readonly string[];
  /** Patterns of the files it leaves out, and of the folders. */
  readonly without: readonly string[];
  readonly withoutFolders: readonly string[];
}

/** How one program says which folders it goes through. */
interface Walker {
  /** The words that make it do so, anywhere or as the first one; always when absent. */
  readonly when?: RegExp;
  readonly first?: RegExp;
  /** Options whose value is the next word. */
  readonly valued?: RegExp;
  /** Whether its first operand is what it looks for, unless one of these options says so. */
  readonly wanted?: RegExp;
  /** Options with which it takes hidden names; always when absent. */
  readonly hidden?: RegExp;
  readonly follows?: RegExp;
  readonly only?: RegExp;
  readonly without?: RegExp;
  readonly withoutFolders?: RegExp;
}

const NEVER = /(?!)/;

// From the manual pages of GNU grep 3.8, ripgrep 14, GNU diffutils 3.8, GNU tar 1.34, Info-ZIP 3.0, GNU coreutils 9.1 and rsync 3.2.
const GREP: Walker = {
  when: /^(-[A-Za-z]*[rR]|--(rec|der)[a-z-]*$|recurse$|--?d.*recurse$)/,
  valued:
    /^(-[A-Za-z]*[ABCDdefm]|--(after-context|before-context|context|max-count|regexp|file|include|exclude|exclude-dir))$/,
  wanted: /^(-[A-Za-z]*[ef]|--(reg[a-z]*|file)(=|$))/,
  follows: /^(-[A-Za-z]*R|--der)/,
  only: /^--include(?:=|$)/,
  without: /^--exclude(?:=|$)/,
  withoutFolders: /^--exclude-dir(?:=|$)/,
};
const RIPGREP: Walker = {
  valued:
    /^(-[A-Za-z]*[ABCEMTdefgjmrt]|--(glob|type|type-not|after-context|before-context|context|max-count|regexp|file|max-depth))$/,
  wanted: /^(-[A-Za-z]*[ef]|--(regexp|file|files)(=|$))/,
  hidden: /^(-[A-Za-z]*[u.]|--(hidden|unrestricted|no-ignore|all))/,
  follows: /^(-[A-Za-z]*L|--follow)/,
  only: /^(?:--glob|-g)(?:=|$)/,
};
const WALKERS: Readonly<Record<string, Walker>> = {
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  zgrep: GREP,
  rg: RIPGREP,
  ag: RIPGREP,
  ack: { ...RIPGREP, hidden: /^/ },
  diff: { when: /^(-[A-Za-z]*r|--rec)/ },
  tar: { when: /^(-[A-Za-z]*[cru]|--(cre|app|upd|cat|con))/, first: /^[A-Za-z]*[cru][A-Za-z]*$/ },
  zip: { when: /^(-[A-Za-z]*[rR]|--rec)/ },
  cp: { when: /^(-[A-Za-z]*[rRa]|--(rec|arch))/ },
  scp: { when: /^-[A-Za-z0-9]*r/ },
  rsync: { when: /^(-[A-Za-z]*[ra]|--(rec|arch))/ },
};

/** Programs that say what a file is called, how large it is and the like, not what is in it. */
const NAMING = new Set('ls stat basename dirname echo printf realpath readlink du test [ find fd cd true :'.split(' '));

/** The folders that the commands of a line go through and read. */
export function walksOf(parts: readonly ShellPart[], words: readonly ShellWord[]): readonly Walk[] {
  const commands = parts.filter((part) => part.kind === 'command');
  const passesOn = passesNamesOn(commands, words);
  return commands.flatMap((part) => {
    const walk = readerWalk(part) ?? (passesOn || carriesReader(part) ? listerWalk(part) : null);
    return walk === null ? [] : [walk];
  });
}

const programOf = (part: CommandPart | undefined): string => basename(part?.words[0]?.value ?? '');

/** Whether names that a command prints may become files that another one reads. */
function passesNamesOn(commands: readonly CommandPart[], words: readonly ShellWord[]): boolean {
  if (commands.some((part) => programOf(part) === 'xargs' && carriesReader(part))) return true;
  const isTaken =
    words.some(({ value, text }) => value === null && /\$\(|`/.test(text)) ||
    commands.some((part) => /^(read|mapfile|readarray)$/.test(programOf(part)));
  return (
    isTaken && commands.some((part) => !NAMING.has(programOf(part)) && part.words.some(({ value }) => value === null))
  );
}

function carriesReader({ inner }: CommandPart): boolean {
  const [first] = inner?.parts ?? [];
  return inner !== null && !(first?.kind === 'command' && first.inner === null && NAMING.has(programOf(first)));
}

function readerWalk(part: CommandPart): Walk | null {
  const program = programOf(part);
  if (program === 'git') return gitWalk(part);
  const walker = Object.hasOwn(WALKERS, program) ? WALKERS[program] : undefined;
  if (walker === undefined || (program === 'rg' && has(part, /^--files$/))) return null;
  const isFirst = walker.first?.test(part.words[1]?.value ?? '') === true;
  if (walker.when !== undefined && !isFirst && !has(part, walker.when)) return null;
  const operands = operandsOf(part, walker.valued ?? NEVER);
  const [taken, left] = [valuesOf(part, walker.only ?? NEVER), valuesOf(part, walker.without ?? NEVER)];
  // Where both are given the last one holds.
  const isMixed = taken.length > 0 && left.length > 0;
  const isTold = walker.wanted === undefined || has(part, walker.wanted);
  return {
    starts: operands.slice(isTold ? 0 : 1),
    hidden: walker.hidden === undefined || has(part, walker.hidden),
    deep: true,
    follows: walker.follows !== undefined && has(part, walker.follows),
    only: isMixed ? [] : taken.filter((pattern) => !pattern.startsWith('!')),
    without: isMixed ? [] : left,
    withoutFolders: valuesOf(part, walker.withoutFolders ?? NEVER),
  };
}

/** git looks at what it keeps, unless it is told to look at everything. */
function gitWalk(part: CommandPart): Walk | null {
  const looks = has(part, /^(grep|diff)$/) && has(part, /^--(no-ind|untr)/);
  return looks ? { ...EVERYTHING, starts: operandsOf(part, NEVER) } : null;
}

const EVERYTHING: Walk = {
  starts: [],
  hidden: true,
  deep: true,
  follows: false,
  only: [],
  without: [],
  withoutFolders: [],
};

function listerWalk(part: CommandPart): Walk | null {
  switch (programOf(part)) {
    case 'find':
      return found(part);
    case 'ls':
      return {
        ...EVERYTHING,
        starts: operandsOf(part, NEVER),
        hidden: has(part, /^(-[A-Za-z]*[aAf]|--(all|almost))/),
        deep: has(part, /^(-[A-Za-z]*R|--rec)/),
      };
    case 'fd':
    case 'fdfind':
      return {
        ...EVERYTHING,
        starts: operandsOf(part, NEVER).slice(1),
        hidden: has(part, /^(-[A-Za-z]*[HuI]|--(hid|unr|no-i))/),
      };
    case 'rg':
      return {
        ...EVERYTHING,
        starts: operandsOf(part, RIPGREP.valued ?? NEVER),
        hidden: has(part, RIPGREP.hidden ?? NEVER),
      };
    case 'git':
      return has(part, /^ls-files$/) && has(part, /^(-[a-z]*o|--oth)/) ? EVERYTHING : null;
    default:
      return null;
  }
}

/** Where every test has to hold, names that do not fit are not found. */
function found(part: CommandPart): Walk {
  const words = part.words.slice(1);
  const end = words.findIndex(({ value }) => /^[-(!,]/.test(value ?? ''));
  const isConjunction = !words.some(({ value }) => /^(-o|-or|!|-not|,|\()$/.test(value ?? ''));
  return {
    ...EVERYTHING,
    starts: end === -1 ? words : words.slice(0, end),
    follows: has(part, /^-(L|follow)$/),
    only: isConjunction ? valuesOf(part, /^-name$/) : [],
  };
}

const has = ({ words }: CommandPart, pattern: RegExp): boolean =>
  words.slice(1).some(({ value }) => value !== null && pattern.test(value));

function operandsOf({ words }: CommandPart, valued: RegExp): readonly ShellWord[] {
  return words.filter(
    ({ value }, index) =>
      index > 0 && (value === '-' || value?.startsWith('-') !== true) && !valued.test(words[index - 1]?.value ?? ''),
  );
}

/** The values of an option, in the same word or the next one. */
function valuesOf({ words }: CommandPart, option: RegExp): readonly string[] {
  return words.flatMap(({ value }, index) => {
    const name = option.exec(value ?? '')?.[0];
    if (name === undefined || index === 0) return [];
    const given = name.endsWith('=') ? value?.slice(name.length) : words[index + 1]?.value;
    return given ? [given] : [];
  });
}
