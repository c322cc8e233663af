import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../errors.js';
import { makeFolder } from '../folder.js';
import { writeAside } from '../write-aside.js';

/** How sure a search must be before it may speak up, and how many documents there were when that was found out. */
export interface Threshold {
  readonly documents: number;
  readonly certainty: number;
}

export const THRESHOLD_FILE = 'threshold.json';

/** Null if there is none that can be used. */
export function readThreshold(folder: string): Threshold | null {
  try {
    const stored: unknown = JSON.parse(readFileSync(join(folder, THRESHOLD_FILE), 'utf8'));
    if (typeof stored !== 'object' || stored === null) return null;
    const { documents, certainty } = Object.fromEntries(Object.entries(stored));
    return typeof documents === 'number' && typeof certainty === 'number' && certainty > 0
      ? { documents, certainty }
      : null;
  } catch (thrown) {
    if (systemCode(thrown) === null && !(thrown instanceof SyntaxError)) throw thrown;
    return null;
  }
}

/** Throws the system's error. */
export function writeThreshold(folder: string, threshold: Threshold): void {
  makeFolder(folder, 0o700);
  writeAside(join(folder, THRESHOLD_FILE), `${JSON.stringify(threshold)}\n`, { mode: 0o600, synced: false });
}

/** Whether it is to be found out anew: what was said has doubled, or there is less than there was. */
export function isOutdated(threshold: Threshold | null, documents: number): boolean {
  return threshold === null || documents >= 2 * threshold.documents || documents < threshold.documents / 2;
}
