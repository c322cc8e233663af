import { homedir } from 'node:os';
import { basename } from 'node:path';
import type { ShellPart } from '../shell/read-command.js';
import { scriptFiles } from '../shell/script-files.js';
import { absolutePath } from './resolve-path.js';

type CommandPart = Extract<ShellPart, { kind: 'command' }>;

/** What a command line does with the paths in it. */
export interface PathUse {
  /** Whether a command in it writes to the files that its arguments name. */
  readonly writes: boolean;
  /** Whether a command may write to them: true for every program that is not known to only read. */
  readonly mayWrite: boolean;
  /** Whether paths may be relative to another folder than the working folder. */
  readonly changesFolder: boolean;
  /** The folders in the text that paths may be relative to; null for too many. */
  readonly folders: readonly string[] | null;
}

/** Programs that write to the files that their arguments name. */
const WRITERS = new Set(
  'cp mv rm ln tee dd install rsync touch truncate mkdir rmdir chmod chown sed patch unzip tar shred split'.split(' '),
);

/** Programs that only read the files that their arguments name. */
const READERS = new Set(
  'cat head tail wc grep egrep fgrep rg ls stat file du df tree diff cmp sort uniq cut tr nl tac jq od strings md5sum sha1sum sha256sum basename dirname realpath readlink find fd less more which type command test [ echo printf true false : pwd cd pushd popd read set trap exit return sleep date ps'.split(
    ' ',
  ),
);

/** Subcommands of git that only read the files that their arguments name. */
const GIT_READERS = new Set('add blame check-ignore commit diff grep log ls-files rev-parse show status'.split(' '));

/** A command that may run in more folders than this needs approval. */
const MAX_FOLDERS = 20;

/** Finds out how the commands of a line use paths. `workingFolder` is where it begins. */
export function pathUse(parts: readonly ShellPart[], workingFolder: string): PathUse {
  const commands = parts.filter((part) => part.kind === 'command');
  const mayHideCommands = parts.some((part) => (part.kind === 'unclear' && part.mayHideCommands) || isUncertain(part));
  const folderChanges = commands.filter(mayChangeFolder);
  return {
    writes: commands.some((part) => WRITERS.has(programOf(part))),
    mayWrite: commands.some(mayWrite),
    changesFolder: mayHideCommands || folderChanges.length > 0,
    folders: foldersOf(folderChanges, workingFolder),
  };
}

/** Whether a line runs a script that it writes itself, whose text the line does not show. */
export function runsWhatItWrites(parts: readonly ShellPart[]): boolean {
  const run = new Set(scriptFiles(parts).map((path) => basename(path)));
  if (run.size === 0) return false;
  return parts.some((part) => {
    if (part.kind === 'file') return part.use === 'write' && run.has(basename(part.path));
    if (part.kind === 'unclear') return true;
    if (programOf(part) === 'chmod' || !mayWrite(part) || scriptFiles([part]).length > 0) return false;
    return part.words.slice(1).some(({ value }) => value === null || run.has(basename(value)));
  });
}

const programOf = ({ words }: CommandPart): string => basename(words[0]?.value ?? '');

const isUncertain = (part: ShellPart): boolean => part.kind === 'command' && part.uncertainty?.mayHideCommands === true;

const mayChangeFolder = ({ words }: CommandPart): boolean =>
  words.some(({ value }) => value === 'cd' || value === 'pushd' || value === 'popd');

function mayWrite(part: CommandPart): boolean {
  if (part.inner !== null) return false;
  const program = programOf(part);
  const isReader = program === 'git' ? GIT_READERS.has(part.words[1]?.value ?? '') : READERS.has(program);
  return !isReader || part.uncertainty !== null;
}

function foldersOf(folderChanges: readonly CommandPart[], workingFolder: string): readonly string[] | null {
  const folders = new Set([workingFolder]);
  for (const { words } of folderChanges)
    for (const target of targetsOf(words)) {
      for (const folder of [...folders]) folders.add(absolutePath(target, folder));
      if (folders.size > MAX_FOLDERS) return null;
    }
  return [...folders];
}

/** The folders that `cd` is given, where they are literal. */
function targetsOf(words: CommandPart['words']): readonly string[] {
  const targets = words.slice(1).flatMap(({ value }) => (value === null || value.startsWith('-') ? [] : [value]));
  return words.length === 1 ? [homedir()] : targets;
}
