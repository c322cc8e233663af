import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { ownSettings, repositoriesOf, textOf } from './git-logins.js';
import { isInside, isThere, lstatOrNull, realPath } from './resolve-path.js';
import { TreeIndex } from './tree-places.js';

/**
 * Settings whose value is a path: of other settings, or of a folder of hooks. A command could create the missing file
 * they name.
 */
const NAMES_FILES = /^(?:path|hookspath|attributesfile|templatedir)$/;

/** How deeply includes of settings files are followed. */
const MAX_INCLUDES = 5;

/** The places outside `.git` that decide what git runs. */
export interface GitPlaces {
  /** Files and folders below the root that exist, and the root itself if all in it is one of them. */
  readonly existing: readonly string[];
  /** Files that settings name and that do not exist. */
  readonly missing: readonly string[];
}

/** Whether git takes its settings from here: a `.git`, or a bare repository. */
export const isRepositoryFolder = (path: string): boolean => basename(path) === '.git' || isThere(join(path, 'HEAD'));

/** The repositories that a folder may be in, the nearest first. */
export function repositoriesAbove(folder: string): readonly string[] {
  const above = dirname(folder);
  const git = join(above, '.git');
  return above === folder ? [] : [...(isThere(git) ? [git] : []), ...repositoriesAbove(above)];
}

/**
 * What decides in `root`, outside of these repositories, what git runs: the repositories that a `.git` points to
 * (worktrees, submodules), and every file that their settings or the user's own name (`include.path`, `core.hooksPath`,
 * filters, aliases).
 */
export function gitPlaces(repositories: readonly string[], root: string): GitPlaces {
  const places = [...placesNamed(repositories, root)];
  const existing = places.filter((path) => isThere(path) && (isInside(root, path) || isInside(path, root)));
  const missing = places.filter((path) => !isThere(path) && isInside(root, path)).map(firstMissing);
  return {
    existing: [...new Set(existing.map((path) => (isInside(path, root) ? root : path)))],
    missing: [...new Set(missing)].filter((path) => !existing.some((place) => isInside(place, path))),
  };
}

/**
 * In larger folders only the repositories around a file are looked at. 5000 folders take 10 ms, and 150 ms the first
 * time.
 */
const LIMITS = { entries: 200_000, folders: 20_000 };

const indexes = new Map<string, TreeIndex>();

/** Whether one of these paths decides what git runs in a repository around it, or anywhere in `root`. */
export async function isNamedByGit(
  paths: readonly string[],
  root: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const index = indexes.get(root) ?? new TreeIndex(ONLY_REPOSITORIES, LIMITS);
  indexes.set(root, index);
  const { runsLater } = await index.find([root], signal, true);
  const repositories = [...runsLater, ...paths.flatMap(repositoriesAbove), ...repositoriesAbove(join(root, 'x'))];
  const places = [...placesNamed([...new Set(repositories)], root)];
  return paths.some((path) => places.some((place) => isInside(place, path)));
}

const ONLY_REPOSITORIES = {
  ...{ isHidden: () => false, isDenied: () => false, isKept: () => false, isAbsent: () => false },
  ...{
    runsLater: (path: string) => basename(path) === '.git',
    isRepository: (path: string) => basename(path) === '.git',
  },
};

function placesNamed(repositories: readonly string[], root: string): ReadonlySet<string> {
  const places = new Set<string>();
  for (const git of repositories) addPlacesOf(git, places);
  for (const settings of ownSettings()) {
    if (isThere(settings)) places.add(realPath(settings));
    addNamed(settings, [root], places, MAX_INCLUDES);
  }
  return places;
}

function addPlacesOf(git: string, places: Set<string>): void {
  const [named = git, shared = named] = repositoriesOf(git);
  const repository = realPath(named);
  const links = ['hooks', 'config', 'info'].map((name) => realPath(join(repository, name)));
  for (const path of [git, repository, shared, ...links]) if (path === git || !isInside(git, path)) places.add(path);
  for (const folder of new Set([repository, shared]))
    for (const name of ['config', 'config.worktree'])
      addNamed(join(folder, name), [dirname(git)], places, MAX_INCLUDES);
}

/** `tops` are the folders that names may be relative to, besides that of the settings file and its worktree. */
function addNamed(config: string, tops: readonly string[], places: Set<string>, depth: number): void {
  const settings = depth > 0 ? settingsOf(config) : [];
  const worktrees = settings
    .filter(({ name }) => name === 'worktree')
    .map(({ value }) => resolve(dirname(config), plainPath(value)));
  const folders = [...tops, dirname(config), ...worktrees];
  for (const { name, value } of settings) {
    const isName = NAMES_FILES.test(name);
    const words = isName ? [plainPath(value)] : wordsOf(value);
    for (const path of new Set(words.flatMap((word) => pathsOf(word, folders)))) {
      if (places.has(path) || !(isName || isOfCommand(path, words.length === 1, folders))) continue;
      places.add(path);
      places.add(realPath(path));
      if (isName) addNamed(path, tops, places, depth - 1);
    }
  }
}

/**
 * Whether a word of a command may name what it runs: a file, or a folder that is not the whole project. No folder is a
 * command by itself.
 */
function isOfCommand(path: string, isAlone: boolean, folders: readonly string[]): boolean {
  const found = lstatOrNull(path);
  return found !== null && !(isAlone && found.isDirectory()) && !folders.some((folder) => isInside(path, folder));
}

const pathsOf = (word: string, folders: readonly string[]): readonly string[] =>
  word.startsWith('~/') ? [join(homedir(), word.slice(1))] : folders.map((folder) => resolve(folder, word));

/**
 * The words of a value that may be paths: `!./tool --clean` runs ./tool. A word on its own is a program in PATH, or no
 * name of a file.
 */
function wordsOf(value: string): readonly string[] {
  const words = value.split(/[\s"';&|!]+/).filter((word) => word !== '' && !/^(?:-|~(?!\/))/.test(word));
  return words.length > 1 ? words : words.filter((word) => word.includes('/'));
}

/** The name of a section, which a setting may follow on the same line. */
const SECTION = /^\[(?:[^\]"]|"(?:[^"\\]|\\.)*")*\]/;

/** The settings of a file that is not too large; none where there is no such file. Names are in lower case. */
function settingsOf(config: string): readonly { readonly name: string; readonly value: string }[] {
  return (textOf(config) ?? '')
    .replaceAll(/\\\r?\n/g, '')
    .split('\n')
    .flatMap((line) => {
      const [, name, value = ''] = /^([\w-]+)\s*=(.*)$/.exec(line.trim().replace(SECTION, '').trimStart()) ?? [];
      return name === undefined ? [] : [{ name: name.toLowerCase(), value }];
    });
}

/** A value that is one path, without quotes and comments. */
function plainPath(value: string): string {
  const pieces = value.match(/"(?:[^"\\]|\\.)*"|\\.|[^"\\;#]+|[;#].*/g) ?? [];
  const end = pieces.findIndex((piece) => /^[;#]/.test(piece));
  return (end === -1 ? pieces : pieces.slice(0, end))
    .map((piece) => piece.replaceAll(/^"|"$|\\(.)/g, '$1'))
    .join('')
    .trim();
}

/** The outermost missing folder of a path: a stand-in for it keeps everything below it from being created. */
export function firstMissing(path: string): string {
  const folder = dirname(path);
  return isThere(folder) ? path : firstMissing(folder);
}
