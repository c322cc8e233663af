import { closeSync, existsSync, openSync, unlinkSync } from 'node:fs';
import { HiError, systemCode } from '../../errors.js';
import { removeIfThere } from '../../write-aside.js';
import { touch } from './heartbeat.js';

/** A disk may fail once. */
const TRIES = 2;

/** The claims that this process could not remove. */
const left = new Set<string>();

/** The lock file of this process. It says that the process wants to write, or is writing. */
export class Claim {
  readonly #path: string;
  #file: number | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  get isMade(): boolean {
    return this.#file !== null;
  }

  /** False once another process has revoked it. */
  get isStanding(): boolean {
    return existsSync(this.#path);
  }

  /** Does nothing when another thread of this process has made it. Throws like `withdraw` if an earlier claim is still there. */
  make(): void {
    removeLeft(this.#path);
    try {
      this.#file = openSync(this.#path, 'wx', 0o600);
    } catch (thrown) {
      if (systemCode(thrown) !== 'EEXIST') throw thrown;
    }
  }

  /** Shows other processes that this one is alive. */
  heartbeat(): void {
    if (this.#file !== null) touch(this.#file);
  }

  /**
   * Removes the claim; false when another process revoked it before. Throws a `HiError` if it cannot be removed, now and in all later attempts of this
   * process: it would wait for itself.
   */
  withdraw(): boolean {
    if (this.#file === null) return false;
    closeSync(this.#file);
    this.#file = null;
    let failure: unknown = null;
    for (let tries = 0; tries < TRIES; tries += 1) {
      try {
        unlinkSync(this.#path);
        return true;
      } catch (cause) {
        if (systemCode(cause) === 'ENOENT') return false;
        failure = cause;
      }
    }
    left.add(this.#path);
    throw notRemoved(this.#path, failure);
  }
}

/** Tries again to remove a claim that was left. */
function removeLeft(path: string): void {
  if (!left.has(path)) return;
  try {
    removeIfThere(path);
    left.delete(path);
  } catch (cause) {
    throw notRemoved(path, cause);
  }
}

const notRemoved = (path: string, cause: unknown): HiError =>
  new HiError('history', `The lock '${path}' cannot be removed (${systemCode(cause)}).`, {
    hint: 'Until this hi ends, others wait for it. Check the disk, then try again.',
    cause,
  });
