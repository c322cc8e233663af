import { spawnSync } from 'node:child_process';

// Root may make namespaces of its own; others need one of users first, which containers seldom allow.
const UNSHARE = [
  'unshare',
  ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']),
  ...['--uts', '--pid', '--fork', '--mount-proc', '--kill-child'],
];

/**
 * The command that runs what follows it as if on another machine of that name: with its own host name and its own
 * process ids, and the same files. Goes before `straced` where both are wanted.
 */
export function elsewhere(name: string): readonly string[] {
  // The shell stays the first process of the namespace: on that one signals act in a way of their own.
  return [...UNSHARE, 'sh', '-c', 'hostname "$0" && "$@"; exit $?', name];
}

/** True where this machine lets us have other places. */
export const canBeElsewhere = spawnSync(UNSHARE[0] ?? '', [...elsewhere('there').slice(1), 'true']).status === 0;
