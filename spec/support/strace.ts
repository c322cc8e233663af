import { spawnSync } from 'node:child_process';
import { cases } from './properties.js';

/** What happens at one system call of a program, and at which. */
export interface Fault {
  /** The call, as strace names it: `rename`, `pwrite64`, `fdatasync`. */
  readonly at: string;
  /** The first, second, … such call, of those on `path` only where that is given. */
  readonly when: number;
  /** A file by its absolute path: calls that name it, or a descriptor of it, count and no others. */
  readonly path?: string;
  /**
   * `kill`: SIGKILL in place of the call. `stop`: SIGSTOP before it; all threads stand still until a SIGCONT. A number:
   * the call begins so many milliseconds later; only its own thread waits. `ENOSPC` and the like: the call fails with
   * that error, and so does every later one with `from`.
   */
  readonly does: 'kill' | 'stop' | number | `E${string}`;
  readonly from?: boolean;
  /**
   * True for a call that Node makes in its thread pool: `fs.promises`, and everything with a callback. Otherwise only
   * the calls of the main thread count: those of `…Sync`. strace counts for each thread by itself, so one of the two is
   * counted, never both, and the pool has a single thread.
   */
  readonly pool?: boolean;
}

/** True where this machine has strace and lets it trace. */
export const canTrace = spawnSync('strace', ['-qq', '-o', '/dev/null', 'true']).status === 0;

/**
 * The command that runs what follows it with a fault: `spawn(command[0], [...command.slice(1), RUNTIME, PROGRAM,
 * 'ask'])`, or `under` of `runProgram`. The same program with the same files makes the same calls in the same order, so
 * a spec that counts on from 1 comes by every one of them.
 */
export function straced({ at, when, path, does, from = false, pool = false }: Fault): readonly string[] {
  const inject = `inject=${at}:${effect(does)}:when=${when}${from ? '+' : ''}`;
  const where = path === undefined ? [] : ['-P', path];
  const threads = pool ? ['-f', '-E', 'UV_THREADPOOL_SIZE=1'] : [];
  return ['strace', '-qq', '-o', '/dev/null', ...threads, ...where, '-e', `trace=${at}`, '-e', inject];
}

/** Of these a program makes many alike, one for each file. */
const ALIKE = ['openat', 'unlink', 'rmdir'];

/**
 * From one kill at a call of that name to the next: every third of many alike, every other of the rest but for renames,
 * which decide; with HI_ROUNDS=2 each.
 */
export const killStep = (at: string): number => (cases(1) > 1 || at === 'rename' ? 1 : ALIKE.includes(at) ? 3 : 2);

function effect(does: Fault['does']): string {
  if (does === 'kill' || does === 'stop') return `signal=${does.toUpperCase()}`;
  return typeof does === 'number' ? `delay_enter=${does * 1000}` : `error=${does}`;
}
