import { statSync } from 'node:fs';
import { delimiter, isAbsolute } from 'node:path';
import { type JudgeContext, judgePath } from './paths/judge-path.js';
import { shouldYield, yieldToEvents } from './paths/path-words.js';
import { absolutePath, isInside } from './paths/resolve-path.js';
import type { Rules } from './rules/rules.js';
import type { ShellPart } from './shell/read-command.js';
import type { ShellWord } from './shell/shell-word.js';

type CommandPart = Extract<ShellPart, { kind: 'command' }>;

/** The options and operands that a listed command may have. With any other, it counts as not listed. */
interface Form {
  /** Letters of options, without and with a value. */
  readonly flags?: string;
  readonly valued?: string;
  /** Options that are one whole word each, such as `-name`. */
  readonly words?: readonly string[];
  /** The kind of the other words: files, files or folders, words that are neither paths nor options, or nothing. */
  readonly operands: 'files' | 'places' | 'words' | 'none';
  /** The option letters that allow operands to be folders. */
  readonly recursive?: string;
  readonly most?: number;
}

const NUMBER = { flags: 'qvz', valued: 'nc', operands: 'files' } as const;
const SUM: Form = { flags: 'bt', operands: 'files' };
const GREP: Form = { flags: 'inHhlLcvwxoEFqsar', valued: 'ABCm', operands: 'files', recursive: 'r' };

/**
 * The commands that run without a rule. With these options they only read and print: they follow no links below a
 * folder, run no program and write no file.
 */
const FORMS: Readonly<Record<string, Form>> = {
  basename: { operands: 'words' },
  cat: { flags: 'nbsAETvet', operands: 'files' },
  cd: { operands: 'places', most: 1 },
  cmp: { flags: 'bls', operands: 'files' },
  cut: { flags: 's', valued: 'dfcb', operands: 'files' },
  date: { flags: 'u', operands: 'none' },
  df: { flags: 'hkT', operands: 'none' },
  diff: { flags: 'uqbwiBcy', operands: 'files' },
  dirname: { operands: 'words' },
  du: { flags: 'shackm', valued: 'd', operands: 'places' },
  echo: { operands: 'words' },
  egrep: GREP,
  false: { operands: 'none' },
  fgrep: GREP,
  file: { flags: 'bi', operands: 'files' },
  find: {
    words: [
      '-name',
      '-iname',
      '-path',
      '-type',
      '-maxdepth',
      '-mindepth',
      '-size',
      '-mtime',
      '-mmin',
      '-empty',
      '-not',
      '-o',
      '-print',
    ],
    operands: 'places',
  },
  grep: GREP,
  head: NUMBER,
  id: { flags: 'ugn', operands: 'none' },
  ls: { flags: 'aAlhrtS1RFdpisgomCUX', operands: 'places' },
  md5sum: SUM,
  nl: { flags: 'p', valued: 'bw', operands: 'files' },
  nproc: { operands: 'none' },
  pwd: { flags: 'LP', operands: 'none' },
  realpath: { flags: 'esm', operands: 'places' },
  sha1sum: SUM,
  sha256sum: SUM,
  sort: { flags: 'nrufbhVsdiM', valued: 'kt', operands: 'files' },
  stat: { operands: 'places' },
  tac: { operands: 'files' },
  tail: NUMBER,
  tr: { operands: 'words' },
  true: { operands: 'none' },
  uname: { flags: 'asrmno', operands: 'none' },
  uniq: { flags: 'cdui', operands: 'files', most: 1 },
  wc: { flags: 'lwcmL', operands: 'files' },
  whoami: { operands: 'none' },
};

/** Whether a command is on the list. `elsewhere`: it is, but some of its files need approval. */
export type BuiltIn = 'no' | 'elsewhere' | 'yes';

/** Looks a command up in the list, for every folder that it may run in. */
export async function builtIn(
  part: CommandPart,
  folders: readonly string[],
  rules: Rules,
  context: JudgeContext,
): Promise<BuiltIn> {
  const paths = pathsOf(part, context.hasSandbox);
  if (paths === null || part.assignments.length > 0 || part.inner !== null || part.uncertainty !== null) return 'no';
  let found: BuiltIn = 'yes';
  for (const folder of folders)
    for (const { path, isFile } of paths) {
      if (shouldYield()) await yieldToEvents(context.signal);
      if (isFile && isFolder(absolutePath(path, folder))) return 'no';
      const verdict = await judgePath(null, { kind: 'read', path }, rules, { ...context, workingFolder: folder });
      if (verdict.decision !== 'allow') {
        if (verdict.decision === 'deny' || verdict.rule === null) return 'no';
        found = 'elsewhere';
      }
    }
  return found;
}

/** Whether bash takes the listed programs from the system: `PATH` has no relative folder and none of the project. */
export function findsSystemPrograms({ env, root }: JudgeContext): boolean {
  const folders = (env.PATH ?? '').split(delimiter);
  return folders.every((folder) => isAbsolute(folder) && !isInside(root, folder));
}

interface Operand {
  readonly path: string;
  /** True if it must not be a folder. */
  readonly isFile: boolean;
}

/** The paths that a listed command reads; null for any other command. */
function pathsOf({ words }: CommandPart, hasSandbox: boolean): readonly Operand[] | null {
  const [program, ...rest] = words;
  const form = Object.hasOwn(FORMS, program?.value ?? '') ? FORMS[program?.value ?? ''] : undefined;
  if (form === undefined) return null;
  const given = operandsOf(form, rest);
  if (given === null || given.operands.length > (form.most ?? Number.POSITIVE_INFINITY)) return null;
  if (form.operands === 'none') return given.operands.length === 0 ? [] : null;
  if (form.operands === 'words') return [];
  const isRecursive = [...(form.recursive ?? '')].some((letter) => given.letters.includes(letter));
  // What private files it would go through, only a sandbox can hide.
  if (isRecursive && !hasSandbox) return null;
  // Without an operand most of them read the folder that they run in.
  return ['.', ...given.operands].map((path, index) => ({
    path,
    isFile: index > 0 && form.operands === 'files' && !isRecursive,
  }));
}

function operandsOf(form: Form, rest: readonly ShellWord[]): { operands: string[]; letters: string } | null {
  const operands: string[] = [];
  let letters = '';
  for (let index = 0; index < rest.length; index += 1) {
    const value = rest[index]?.value ?? null;
    if (value === null) return null;
    if (!/^-./.test(value) || form.operands === 'words') operands.push(value);
    else if (form.words?.includes(value) !== true) {
      const cluster = readCluster(value, form);
      if (cluster === null) return null;
      letters += cluster.letters;
      if (cluster.takesNext) index += 1;
      if (cluster.takesNext && (rest[index]?.value ?? null) === null) return null;
    }
  }
  return { operands, letters };
}

function readCluster(word: string, { flags = '', valued = '' }: Form): { letters: string; takesNext: boolean } | null {
  // head -20
  if (/^-\d+$/.test(word) && valued.includes('n')) return { letters: '', takesNext: false };
  for (const [index, letter] of [...word].entries()) {
    if (index === 0 || flags.includes(letter)) continue;
    if (!valued.includes(letter)) return null;
    return { letters: word.slice(1, index), takesNext: index === word.length - 1 };
  }
  return { letters: word.slice(1), takesNext: false };
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // It does not exist, the name is too long or the links form a loop, so nothing can be opened.
    return false;
  }
}
