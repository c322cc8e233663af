import { execFileSync } from 'node:child_process';
import type { HiError } from '../../errors.js';
import { commandShell, shellProgram } from '../../tools/shell/run-shell.js';

/** The result of one check: it passed, it failed and how to fix it, or something worth knowing. */
export type Finding = { readonly part: string } & (
  | { readonly ok: string }
  | { readonly failure: HiError }
  | { readonly note: string }
);

/** Runs bash and returns its first line about itself; throws where it cannot be run. */
type AskBash = (program: string) => string;

/** Reports what works on this system, and what does not. */
export function systemFindings(
  platform: NodeJS.Platform = process.platform,
  ask: AskBash = askBash,
): readonly Finding[] {
  const limits = LIMITS[platform] ?? [];
  return [bashFinding(platform, ask), ...limits.map((note) => ({ part: 'system', note }))];
}

function bashFinding(platform: NodeJS.Platform, ask: AskBash): Finding {
  try {
    const program = shellProgram('bash');
    const output = ask(program);
    if (platform === 'win32' && !/msys|cygwin|mingw/i.test(output))
      return { part: 'bash', note: `'${program}' is that of WSL, which has other paths: install Git for Windows` };
    const version = /version (\S+)/.exec(output)?.[1];
    return { part: 'bash', ok: [program === 'bash' ? null : program, version].filter((word) => word).join(', ') };
  } catch {
    if (commandShell(process.env) === 'sh') return { part: 'bash', note: 'none: commands run in sh' };
    const how = platform === 'win32' ? 'Git for Windows brings it' : 'install it with your package manager';
    return { part: 'bash', note: `none, so the model can run no commands and !command does not work: ${how}` };
  }
}

/** Differences from Linux. */
const LIMITS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ["a program that hides its environment from ps and has left its command's group is not ended with it"],
  win32: [
    'what a command leaves in the background is not ended when the turn ends',
    'who may read config.json is not checked',
    'an MCP server may outlive hi where hi itself is killed',
  ],
};

function askBash(program: string): string {
  return execFileSync(program, ['--version'], { encoding: 'utf8', timeout: 5000, windowsHide: true });
}
