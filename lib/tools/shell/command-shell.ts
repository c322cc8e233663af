import { statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { ShellName } from '../../permission/shell/shell-name.js';

/** What of the system tells which shells there are. */
export interface ShellSystem {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  isProgram(path: string): boolean;
}

/** What `PATH` means where it is not set. */
const USUAL_PATH = '/usr/bin:/bin';

/** The shell that runs commands: bash; where PATH has none, as on Alpine, sh. */
export function commandShell(
  env: ShellSystem['env'],
  { platform, isProgram }: Pick<ShellSystem, 'platform' | 'isProgram'> = here(),
): ShellName {
  if (platform === 'win32') return 'bash';
  const folders = (env.PATH ?? USUAL_PATH).split(':').filter(isAbsolute);
  const has = (name: string): boolean => folders.some((folder) => isProgram(join(folder, name)));
  return !has('bash') && has('sh') ? 'sh' : 'bash';
}

/**
 * The program of a shell: found in PATH but on Windows, where bash comes with Git for Windows, which does not put it there, and where the one in PATH is another
 * system's.
 */
export function shellProgram(name: ShellName, { platform, env, isProgram }: ShellSystem = hereAndNow()): string {
  if (platform !== 'win32') return name;
  const folders = [env.ProgramW6432, env.ProgramFiles, env.LOCALAPPDATA && `${env.LOCALAPPDATA}\\Programs`];
  const found = folders.map((folder) => `${folder}\\Git\\bin\\bash.exe`).find(isProgram);
  return found ?? name;
}

/** The arguments with which a shell runs a command, reads no file of the user's before, and at its end writes the working folder to descriptor 3. */
export function shellArguments(
  name: ShellName,
  command: string,
  platform: NodeJS.Platform = process.platform,
): readonly string[] {
  const plain = name === 'bash' ? ['--noprofile', '--norc'] : [];
  return [...plain, '-c', withExitFolder(command, platform)];
}

/** Asking for the folder afterwards would be a race. */
function withExitFolder(command: string, platform: NodeJS.Platform): string {
  // Bash of Git for Windows would tell `/c/Users`, which no other program knows.
  const pwd = platform === 'win32' ? 'pwd -W' : 'pwd -P';
  return `trap '${pwd} >&3' EXIT; ${command}`;
}

const here = (): Pick<ShellSystem, 'platform' | 'isProgram'> => ({ platform: process.platform, isProgram });

const hereAndNow = (): ShellSystem => ({ ...here(), env: process.env });

function isProgram(path: string): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isFile() === true && (process.platform === 'win32' || (found.mode & 0o111) !== 0);
  } catch {
    // A folder that may not be entered.
    return false;
  }
}
