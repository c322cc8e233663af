import { closeSync, existsSync, openSync, unlinkSync } from 'node:fs';
import { systemCode } from '../../errors.js';
import { touch } from './heartbeat.js';

/** The file by which this process says that it wants to write, or does. */
export class Claim {
  readonly #path: string;
  #file: number | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  get isMade(): boolean {
    return this.#file !== null;
  }

  /** False once another process has taken the file away. */
  get isStanding(): boolean {
    return existsSync(this.#path);
  }

  /** Does nothing when another thread of this very process wishes already. */
  make(): void {
    try {
      this.#file = openSync(this.#path, 'wx', 0o600);
    } catch (thrown) {
      if (systemCode(thrown) !== 'EEXIST') throw thrown;
    }
  }

  /** Shows others that this process lives. */
  heartbeat(): void {
    if (this.#file !== null) touch(this.#file);
  }

  /** Takes the wish back; false when another process had done so before. */
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
