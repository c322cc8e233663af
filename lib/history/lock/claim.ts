import { closeSync, existsSync, openSync, unlinkSync } from 'node:fs';
import { systemCode } from '../../errors.js';
import { touch } from './heartbeat.js';

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

  /** Does nothing when another thread of this process has made it. */
  make(): void {
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

  /** Removes the claim; false when another process revoked it before. */
  withdraw(): boolean {
    if (this.#file === null) return false;
    closeSync(this.#file);
    this.#file = null;
    try {
      unlinkSync(this.#path);
      return true;
    } catch (thrown) {
      if (systemCode(thrown) === 'ENOENT') return false;
      throw thrown;
    }
  }
}
