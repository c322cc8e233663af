import { monotonic } from '../../clock.js';
import { printOf } from './renewal.js';

/** No longer than this, in milliseconds, counts between two looks: the watching process may have stood still itself, and the watched one with it. */
const GLANCE = 1000;

interface Sight {
  readonly print: string;
  readonly at: number;
  /** How long it was seen so, in milliseconds. */
  readonly quiet: number;
}

/** Watches files that living processes renew, by this process's own clock only: those of two machines need not agree. */
export class Watch {
  readonly #sights = new Map<string, Sight>();

  /** For how long, in milliseconds, the file at `path` was seen unchanged; null when it is gone. */
  quiet(path: string): number | null {
    const print = printOf(path);
    if (print === null) {
      this.#sights.delete(path);
      return null;
    }
    const at = monotonic();
    const before = this.#sights.get(path);
    const quiet = before?.print === print ? before.quiet + Math.min(at - before.at, GLANCE) : 0;
    this.#sights.set(path, { print, at, quiet });
    return quiet;
  }
}
