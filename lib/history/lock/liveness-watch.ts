import { monotonic } from '../../clock.js';
import { fingerprintOf } from './heartbeat.js';

/** No longer than this, in milliseconds, counts between two looks: the watching process may have stood still itself, and the watched one with it. */
const LONGEST_STEP = 1000;

interface Observation {
  readonly fingerprint: string;
  readonly at: number;
  /** How long it was seen so, in milliseconds. */
  readonly unchanged: number;
}

/** Watches files that living processes renew, by this process's own clock only: those of two machines need not agree. */
export class LivenessWatch {
  readonly #observations = new Map<string, Observation>();

  /** For how long, in milliseconds, the file at `path` was seen unchanged; null when it is gone. */
  unchangedFor(path: string): number | null {
    const fingerprint = fingerprintOf(path);
    if (fingerprint === null) {
      this.#observations.delete(path);
      return null;
    }
    const at = monotonic();
    const before = this.#observations.get(path);
    const unchanged =
      before?.fingerprint === fingerprint ? before.unchanged + Math.min(at - before.at, LONGEST_STEP) : 0;
    this.#observations.set(path, { fingerprint, at, unchanged });
    return unchanged;
  }
}
