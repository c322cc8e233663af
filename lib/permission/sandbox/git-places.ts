import { lstatSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { repositoriesOf } from '../paths/git-logins.js';
import { isInside, realPath } from '../paths/resolve-path.js';

/** Settings that include other settings or name the folder of hooks: a command could create the missing file they name. */
const NAMES_FILES = /^\s*(path|hookspath|worktree|attributesfile|templatedir)\s*=/i;

/** How deeply includes of settings files are followed. */
const MAX_INCLUDES = 5;

/** The places outside `.git` that decide what git runs for one repository. */
export interface GitPlaces {
  /** Files and folders below the root that exist. */
  readonly existing: readonly string[];
  /** Files that the settings name and that do not exist. */
  readonly missing: readonly string[];
}

/**
 * What else in `root` decides what git runs in the repository of this `.git`: the repository that it points to (worktrees, submodules), and every
 * file of the project that its settings name (`include.path`, `core.hooksPath`, filters, aliases).
 */
export function gitPlaces(git: string, root: string): GitPlaces {
  const top = dirname(git);
  const [named = git, shared = named] = repositoriesOf(git);
  const repository = realPath(named);
  const links = ['hooks', 'config', 'info'].map((name) => realPath(join(repository, name)));
  const places = new Set([repository, shared, ...links]);
  for (const folder of new Set([repository, shared]))
    for (const name of ['config', 'config.worktree']) addNamed(join(folder, name), top, places, MAX_INCLUDES);
  return sorted(
    [...places].filter((path) => !isInside(git, path)),
    root,
  );
}

/** The same for a settings file of the user: what it names in `root`. */
export function placesOfSettings(config: string, root: string): GitPlaces {
  const places = new Set<string>();
  addNamed(config, root, places, MAX_INCLUDES);
  return sorted([...places], root);
}

function sorted(places: readonly string[], root: string): GitPlaces {
  const inside = places.filter((path) => path !== root && isInside(root, path));
  const existing = inside.filter(isThere);
  const missing = new Set(inside.filter((path) => !isThere(path)).map(firstMissing));
  return { existing, missing: [...missing].filter((path) => !existing.some((place) => isInside(place, path))) };
}

function addNamed(config: string, top: string, places: Set<string>, depth: number): void {
  const text = depth > 0 ? read(config) : null;
  for (const line of text?.split('\n') ?? [])
    for (const word of wordsOf(line))
      for (const path of new Set([resolve(top, word), resolve(dirname(config), word)])) {
        if (places.has(path) || !(isThere(path) || NAMES_FILES.test(line))) continue;
        places.add(path);
        places.add(realPath(path));
        if (NAMES_FILES.test(line)) addNamed(path, top, places, depth - 1);
      }
}

/** The words of a value that may be paths: `!./tool --clean` runs ./tool. */
function wordsOf(line: string): readonly string[] {
  const [, value = ''] = /^\s*[\w-]+\s*=(.*)$/.exec(line) ?? [];
  return value.split(/[\s"';&|!]+/).filter((word) => word !== '' && !/^[-~]/.test(word));
}

/** The outermost missing folder of a path: a stand-in for it keeps everything below it from being created. */
function firstMissing(path: string): string {
  const folder = dirname(path);
  return isThere(folder) ? path : firstMissing(folder);
}

function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** The text of a small regular file; null for anything else. */
function read(path: string): string | null {
  try {
    const found = lstatSync(realPath(path));
    return found.isFile() && found.size < 1_000_000 ? readFileSync(path, 'utf8') : null;
  } catch {
    return null;
  }
}
