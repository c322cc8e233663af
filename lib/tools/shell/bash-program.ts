import { existsSync } from 'node:fs';

/** What of the system tells where bash is. */
export interface BashSystem {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  exists(path: string): boolean;
}

/**
 * The program that is bash: found in PATH but on Windows, where it comes with Git for Windows, which does not put it there, and where the one in PATH is another
 * system's.
 */
export function bashProgram({ platform, env, exists }: BashSystem = { ...here(), exists: existsSync }): string {
  if (platform !== 'win32') return 'bash';
  const folders = [env.ProgramW6432, env.ProgramFiles, env.LOCALAPPDATA && `${env.LOCALAPPDATA}\\Programs`];
  const found = folders.map((folder) => `${folder}\\Git\\bin\\bash.exe`).find(exists);
  return found ?? 'bash';
}

/** The commands that write the working folder to descriptor 3 when the shell exits, and what follows. Asking for it afterwards would be a race. */
export function withExitFolder(command: string, platform: NodeJS.Platform = process.platform): string {
  // Bash of Git for Windows would tell `/c/Users`, which no other program knows.
  const pwd = platform === 'win32' ? 'pwd -W' : 'pwd -P';
  return `trap '${pwd} >&3' EXIT; ${command}`;
}

const here = (): Pick<BashSystem, 'platform' | 'env'> => ({ platform: process.platform, env: process.env });
