import { statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { ownProgram } from '../../own-programs.js';
import type { ShellName } from '../../permission/shell/shell-word.js';

/** What determines which shells are available. */
export interface ShellSearch {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  isProgram(path: string): boolean;
}

/** The default of `PATH`. */
const USUAL_PATH = '/usr/bin:/bin';

/**
 * Where a shell is on nearly every system. PATH may begin with many folders that have none, and to look into each costs
 * every start a little.
 */
const USUAL_FOLDERS = USUAL_PATH.split(':');

/** The shell that runs commands: bash, or sh if PATH has no bash, as on Alpine. */
export function commandShell(
  env: ShellSearch['env'],
  { platform, isProgram }: Pick<ShellSearch, 'platform' | 'isProgram'> = here(),
): ShellName {
  if (platform === 'win32') return 'bash';
  const folders = (env.PATH ?? USUAL_PATH).split(':').filter(isAbsolute);
  const likely = USUAL_FOLDERS.filter((folder) => folders.includes(folder));
  const has = (name: string): boolean =>
    [...new Set([...likely, ...folders])].some((folder) => isProgram(join(folder, name)));
  return !has('bash') && has('sh') ? 'sh' : 'bash';
}

/**
 * The program of a shell, found in PATH. On Windows, bash comes with Git for Windows, which does not add it to PATH; a
 * bash in PATH is that of another system (WSL).
 */
export function shellProgram(name: ShellName, { platform, env, isProgram }: ShellSearch = hereAndNow()): string {
  if (platform !== 'win32') return ownProgram(name, env);
  const folders = [env.ProgramW6432, env.ProgramFiles, env.LOCALAPPDATA && `${env.LOCALAPPDATA}\\Programs`];
  const found = folders.map((folder) => `${folder}\\Git\\bin\\bash.exe`).find(isProgram);
  return found ?? name;
}

/**
 * The arguments to run a command in a shell that reads no startup files and writes its last working folder to
 * descriptor 3.
 */
export function shellArguments(
  name: ShellName,
  command: string,
  platform: NodeJS.Platform = process.platform,
): readonly string[] {
  const plain = name === 'bash' ? ['--noprofile', '--norc'] : [];
  return [...plain, '-c', withExitFolder(command, platform)];
}

/** Has the shell report its folder itself: asking afterwards would be a race. */
function withExitFolder(command: string, platform: NodeJS.Platform): string {
  // Bash of Git for Windows would report `/c/Users`, which other programs do not understand.
  const pwd = platform === 'win32' ? 'pwd -W' : 'pwd -P';
  return `trap '${pwd} >&3' EXIT; ${command}`;
}

const here = (): Pick<ShellSearch, 'platform' | 'isProgram'> => ({ platform: process.platform, isProgram });

const hereAndNow = (): ShellSearch => ({ ...here(), env: process.env });

function isProgram(path: string): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isFile() === true && (process.platform === 'win32' || (found.mode & 0o111) !== 0);
  } catch {
    // A folder without permission to enter.
    return false;
  }
}
