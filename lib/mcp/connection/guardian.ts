import { type ChildProcess, spawn } from 'node:child_process';
import { type CommandProcesses, MARK } from '../../end-processes.js';

/**
 * Waits for the end of its input, which comes when hi exits for whatever reason, and then ends what it guards: the group, and processes that left the group
 * but carry the mark. A line of input means that hi has done so itself.
 */
const SCRIPT = `group=$1 mark=$2
read -r line && exit
every() { kill "-$1" -- "-$group"; kill "-$1" $(grep -la -- "$mark" /proc/[0-9]*/environ | cut -d/ -f3); }
{ every TERM; sleep 0.3; every KILL; } 2>/dev/null`;

/** Makes sure that a server does not outlive hi, even if hi is killed. Needs a shell. */
export class Guardian {
  readonly #shell: ChildProcess;

  constructor({ group, mark }: CommandProcesses) {
    // Not in its environment, or it would find itself by the mark.
    this.#shell = spawn('/bin/sh', ['-c', SCRIPT, 'sh', String(group), `${MARK}=${mark}`], {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
      // A signal to hi's group must not end the guardian.
      detached: true,
    });
    this.#shell.on('error', () => {});
    this.#shell.stdin?.on('error', () => {});
    this.#shell.unref();
  }

  /** The server has ended. */
  dismiss(): void {
    this.#shell.stdin?.end('\n');
  }
}
