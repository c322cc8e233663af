import { basename } from 'node:path';
import type { ShellPart } from './read-command.js';
import type { ShellWord } from './shell-word.js';

type CommandPart = Extract<ShellPart, { kind: 'command' }>;

/** The folders whose files a command reads, and which of the files. */
export interface Traversal {
  /** Where it begins; empty for the folder that the command runs in. */
  readonly roots: readonly ShellWord[];
  /** Whether it reads names that begin with a dot. */
  readonly includesHidden: boolean;
  /** Whether it enters subfolders. */
  readonly recursive: boolean;
  /** Whether it follows symbolic links. */
  readonly followsLinks: boolean;
  /** Patterns for the names it reads; empty for all. */
  readonly include: readonly string[];
  /** Patterns for the files and folders it leaves out. */
  readonly excludeFiles: readonly string[];
  readonly excludeFolders: readonly string[];
}

/** The options that tell a program which folders to read. */
interface TraversalOptions {
  /** The words that make it read folders, anywhere or as the first one; absent for a program that always does. */
  readonly when?: RegExp;
  readonly first?: RegExp;
  /** Options whose value is the next word. */
  readonly optionsWithValue?: RegExp;
  /** For a program whose first operand is a pattern: the options that give the pattern instead. */
  readonly searchOptions?: RegExp;
  /** The options with which it reads hidden names; absent for a program that always does. */
  readonly includesHidden?: RegExp;
  readonly followsLinks?: RegExp;
  readonly include?: RegExp;
  readonly excludeFiles?: RegExp;
  readonly excludeFolders?: RegExp;
}

const NEVER = /(?!)/;

// From the manual pages of GNU grep 3.8, ripgrep 14, GNU diffutils 3.8, GNU tar 1.34, Info-ZIP 3.0, GNU coreutils 9.1 and rsync 3.2.
const GREP: TraversalOptions = {
  when: /^(-[A-Za-z]*[rR]|--(rec|der)[a-z-]*$|recurse$|--d.*recurse$)/,
  optionsWithValue:
    /^(-[A-Za-z]*[ABCDdefm]|--(after-context|before-context|context|max-count|regexp|file|include|exclude|exclude-dir))$/,
  searchOptions: /^(-[A-Za-z]*[ef]|--(reg[a-z]*|file)(=|$))/,
  followsLinks: /^(-[A-Za-z]*R|--der)/,
  include: /^--include(?:=|$)/,
  excludeFiles: /^--exclude(?:=|$)/,
  excludeFolders: /^--exclude-dir(?:=|$)/,
};
const ACK = {
  optionsWithValue:
    /^(-[A-Za-z]*[ABCEMTdefgjmrt]|--(glob|type|type-not|after-context|before-context|context|max-count|regexp|file|max-depth))$/,
  searchOptions: /^(-[A-Za-z]*[ef]|--(regexp|file|files)(=|$))/,
  followsLinks: /^(-[A-Za-z]*L|--follow)/,
  include: /^(?:--glob|-g)(?:=|$)/,
};
const RIPGREP = {
  ...ACK,
  includesHidden: /^(-[A-Za-z]*[u.]|--(hidden|unrestricted|no-ignore|all))/,
};
const TRAVERSERS: Readonly<Record<string, TraversalOptions>> = {
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  zgrep: GREP,
  rg: RIPGREP,
  ag: RIPGREP,
  ack: ACK,
  diff: { when: /^(-[A-Za-z]*r|--rec)/ },
  tar: { when: /^(-[A-Za-z]*[cru]|--(cre|app|upd|cat|con))/, first: /^(?=[^cru]*[cru])[A-Za-z]+$/ },
  zip: { when: /^(-[A-Za-z]*[rR]|--rec)/ },
  cp: { when: /^(-[A-Za-z]*[rRa]|--(rec|arch))/ },
  scp: { when: /^-[A-Za-z0-9]*r/ },
  rsync: { when: /^(-[A-Za-z]*[ra]|--(rec|arch))/ },
};

/** Programs that print names and metadata of files, not their contents. */
const METADATA_ONLY = new Set(
  'ls stat basename dirname echo printf realpath readlink du test [ find fd cd true :'.split(' '),
);

/** Whether a command prints names and metadata of files, not their contents. */
export function isMetadataOnly(part: CommandPart): boolean {
  return METADATA_ONLY.has(programOf(part));
}

/** The folders whose files the commands of a line read. */
export function traversalsOf(parts: readonly ShellPart[], words: readonly ShellWord[]): readonly Traversal[] {
  const commands = parts.filter((part) => part.kind === 'command');
  const passesNames = passesFileNames(commands, words);
  return commands.flatMap((part) => {
    const traversal = readerTraversal(part) ?? (passesNames || runsReader(part) ? listerTraversal(part) : null);
    return traversal === null ? [] : [traversal];
  });
}

const programOf = ({ words }: CommandPart): string => basename(words[0]?.value ?? '');

/** Whether the names that one command prints may become the files that another one reads. */
function passesFileNames(commands: readonly CommandPart[], words: readonly ShellWord[]): boolean {
  if (commands.some((part) => programOf(part) === 'xargs' && runsReader(part))) return true;
  const isTaken =
    words.some(({ value, text }) => value === null && /\$\(|`/.test(text)) ||
    commands.some((part) => /^(read|mapfile|readarray)$/.test(programOf(part)));
  return (
    isTaken &&
    commands.some((part) => !METADATA_ONLY.has(programOf(part)) && part.words.some(({ value }) => value === null))
  );
}

function runsReader({ inner }: CommandPart): boolean {
  const [first] = inner?.parts ?? [];
  return inner !== null && !(first?.kind === 'command' && first.inner === null && METADATA_ONLY.has(programOf(first)));
}

function readerTraversal(part: CommandPart): Traversal | null {
  const program = programOf(part);
  if (program === 'git') return gitTraversal(part);
  const options = Object.hasOwn(TRAVERSERS, program) ? TRAVERSERS[program] : undefined;
  if (options === undefined || (program === 'rg' && hasArgument(part, /^--files$/))) return null;
  const isFirst = options.first?.test(part.words[1]?.value ?? '') === true;
  if (options.when !== undefined && !isFirst && !hasArgument(part, options.when)) return null;
  const operands = operandsOf(part, options.optionsWithValue ?? NEVER);
  const [included, excluded] = [
    valuesOf(part, options.include ?? NEVER),
    valuesOf(part, options.excludeFiles ?? NEVER),
  ];
  // With both options the last one counts, so neither is relied on.
  const isMixed = included.length > 0 && excluded.length > 0;
  const hasSearchOption = options.searchOptions === undefined || hasArgument(part, options.searchOptions);
  return {
    roots: operands.slice(hasSearchOption ? 0 : 1),
    includesHidden: options.includesHidden === undefined || hasArgument(part, options.includesHidden),
    recursive: true,
    followsLinks: options.followsLinks !== undefined && hasArgument(part, options.followsLinks),
    include: isMixed ? [] : included.filter((pattern) => !pattern.startsWith('!')),
    excludeFiles: isMixed ? [] : excluded,
    excludeFolders: valuesOf(part, options.excludeFolders ?? NEVER),
  };
}

/** git reads only tracked files, unless an option says otherwise. */
function gitTraversal(part: CommandPart): Traversal | null {
  const readsUntracked = hasArgument(part, /^(grep|diff)$/) && hasArgument(part, /^--(no-ind|untr)/);
  return readsUntracked ? { ...EVERYTHING, roots: operandsOf(part, NEVER) } : null;
}

const EVERYTHING: Traversal = {
  roots: [],
  includesHidden: true,
  recursive: true,
  followsLinks: false,
  include: [],
  excludeFiles: [],
  excludeFolders: [],
};

function listerTraversal(part: CommandPart): Traversal | null {
  switch (programOf(part)) {
    case 'find':
      return findTraversal(part);
    case 'ls':
      return {
        ...EVERYTHING,
        roots: operandsOf(part, NEVER),
        includesHidden: hasArgument(part, /^(-[A-Za-z]*[aAf]|--(all|almost))/),
        recursive: hasArgument(part, /^(-[A-Za-z]*R|--rec)/),
      };
    case 'fd':
    case 'fdfind':
      return {
        ...EVERYTHING,
        roots: operandsOf(part, NEVER).slice(1),
        includesHidden: hasArgument(part, /^(-[A-Za-z]*[HuI]|--(hid|unr|no-i))/),
      };
    case 'rg':
      return {
        ...EVERYTHING,
        roots: operandsOf(part, RIPGREP.optionsWithValue),
        includesHidden: hasArgument(part, RIPGREP.includesHidden),
      };
    case 'git':
      return hasArgument(part, /^ls-files$/) && hasArgument(part, /^(-[a-z]*o|--oth)/) ? EVERYTHING : null;
    default:
      return null;
  }
}

/** `-name` excludes other names only if all tests of `find` have to succeed: no `-o`, no `!`. */
function findTraversal(part: CommandPart): Traversal {
  const words = part.words.slice(1);
  const end = words.findIndex(({ value }) => /^[-(!,]/.test(value ?? ''));
  const isConjunction = !words.some(({ value }) => /^(-o|-or|!|-not|,|\()$/.test(value ?? ''));
  return {
    ...EVERYTHING,
    roots: end === -1 ? words : words.slice(0, end),
    followsLinks: hasArgument(part, /^-(L|follow)$/),
    include: isConjunction ? valuesOf(part, /^-name$/) : [],
  };
}

const hasArgument = ({ words }: CommandPart, pattern: RegExp): boolean =>
  words.some(({ value }) => value !== null && pattern.test(value));

function operandsOf({ words }: CommandPart, optionsWithValue: RegExp): readonly ShellWord[] {
  return words.filter(
    ({ value }, index) =>
      index > 0 &&
      (value === '-' || value?.startsWith('-') !== true) &&
      !optionsWithValue.test(words[index - 1]?.value ?? ''),
  );
}

/** The values of an option, each in the same word or in the next one. */
function valuesOf({ words }: CommandPart, option: RegExp): readonly string[] {
  return words.flatMap(({ value }, index) => {
    const name = option.exec(value ?? '')?.[0];
    if (name === undefined) return [];
    const given = name.endsWith('=') ? value?.slice(name.length) : words[index + 1]?.value;
    return given ? [given] : [];
  });
}
