import { existsSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, relative } from 'node:path';

/** Set in the environment of everything that hi starts for the model: what these run was not typed by the user. */
export const BY_MODEL = 'HI_BY_MODEL';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where programs are searched for if PATH is not set, and a folder that nobody has: starting a program there fails as
 * it does for a missing one.
 */
const USUAL_PATH = '/usr/bin:/bin';
const NOWHERE = '/usr/lib/no-such-folder';

/**
 * The absolute path of a program that hi starts itself: found in PATH, but not in the project, whose files somebody
 * else may have written, and not relative to the working folder. Where there is none, nothing is at the path. A name
 * with a slash is returned as it is, and so is any on Windows.
 */
export function ownProgram(name: string, env: Environment = process.env): string {
  if (process.platform === 'win32' || name.includes('/')) return name;
  return (
    ownFolders(env)
      .find((folder) => isProgram(join(folder, name)))
      ?.concat('/', name) ?? join(NOWHERE, name)
  );
}

/** The environment for a command line of the user's own in which the same holds for every name. */
export function ownEnvironment(env: Environment = process.env): Record<string, string | undefined> {
  return process.platform === 'win32' ? { ...env } : { ...env, PATH: ownFolders(env).join(delimiter) || NOWHERE };
}

/** The folders in PATH that are neither relative nor in the project. */
function ownFolders({ PATH = USUAL_PATH }: Environment): readonly string[] {
  const project = projectFolder();
  const isOfProject = (folder: string): boolean => project !== null && isWithin(project, real(folder));
  return PATH.split(delimiter).filter((folder) => isAbsolute(folder) && !isOfProject(folder));
}

/**
 * The working folder, or the repository that it is in. Null where that has the user's own programs too, as the home
 * folder.
 */
function projectFolder(): string | null {
  const home = real(homedir());
  const here = real(process.cwd());
  let project = here;
  for (let folder = here; !isWithin(folder, home); folder = dirname(folder))
    if (existsSync(join(folder, '.git'))) project = folder;
  return isWithin(project, home) ? null : project;
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way));
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function isProgram(path: string): boolean {
  try {
    const found = statSync(path);
    return found.isFile() && (found.mode & 0o111) !== 0;
  } catch {
    return false;
  }
}
