import { monotonic } from '../../clock.js';
import { fingerprintOf } from './heartbeat.js';

/** The most time, in milliseconds, that counts between two checks: the watching process may have been suspended together with the watched one. */
const LONGEST_STEP = 1000;

interface Observation {
  readonly fingerprint: string;
  readonly at: number;
  /** How long it has been unchanged, in milliseconds. */
  readonly unchanged: number;
}

/** Watches the heartbeats of other processes, by the clock of this process only: two machines need not agree on the time. */
export class LivenessWatch {
  readonly #observations = new Map<string, Observation>();

  /** For how long the file at `path` was seen unchanged, in milliseconds; null when it is gone. */
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
