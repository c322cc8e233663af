import { execFile } from 'node:child_process';
import { ownProgram } from '../../processes.js';
import { BARE_OPTIONS } from './bubblewrap.js';
import { NotConfinable } from './confinement.js';
import { SEATBELT_PROBE, seatbeltProfile } from './seatbelt.js';

/** The program that sandboxes commands. */
export type SandboxKind = 'bubblewrap' | 'seatbelt';

/** What to do if there is none. */
export const SANDBOX_HINT =
  process.platform === 'linux'
    ? 'Install bubblewrap (Debian: apt install bubblewrap), or set tools.sandbox to false.'
    : 'Set tools.sandbox to false.';

const probes = new Map<string, Promise<string | null>>();

/** The sandbox of this system; null if it has none that works. */
export async function sandboxKind(): Promise<SandboxKind | null> {
  return (await sandboxProblem()) === null ? (process.platform === 'darwin' ? 'seatbelt' : 'bubblewrap') : null;
}

/** The sandbox of this system. Throws `NotConfinable` where it has none that works. */
export async function requireSandbox(): Promise<SandboxKind> {
  const kind = await sandboxKind();
  if (kind !== null) return kind;
  throw new NotConfinable(
    `tools.sandbox is on, but ${await sandboxProblem()}`,
    `The user can do this: ${SANDBOX_HINT.replace(/\.$/, '')}`,
  );
}

/** Why commands cannot be sandboxed on this system; null if they can. Tried once. */
export function sandboxProblem(): Promise<string | null> {
  if (process.platform === 'win32') return Promise.resolve('hi has no sandbox for Windows');
  const path = process.env.PATH ?? '';
  const before = probes.get(path);
  if (before !== undefined) return before;
  const probe =
    process.platform === 'darwin'
      ? tried('sandbox-exec', ['-p', seatbeltProfile(SEATBELT_PROBE)])
      : tried('bwrap', BARE_OPTIONS);
  probes.set(path, probe);
  return probe;
}

function tried(program: string, options: readonly string[]): Promise<string | null> {
  const name = program === 'bwrap' ? 'bubblewrap' : program;
  return new Promise((resolve) => {
    execFile(
      ownProgram(program),
      [...options, ...(program === 'bwrap' ? ['--'] : []), '/bin/sh', '-c', ':'],
      // No keys: it runs before anything was asked.
      { env: {} },
      (failure, _output, errors) => {
        if (failure === null) resolve(null);
        else if (failure.code === 'ENOENT') resolve(`${name} cannot be used here: it is not installed`);
        else resolve(`${name} cannot be used here: ${errors.trim() || failure.message}`);
      },
    );
  });
}
