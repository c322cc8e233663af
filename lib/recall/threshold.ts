import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../errors.js';
import { makeFolder } from '../folder.js';
import { writeAside } from '../write-aside.js';
import { SEGMENT_VERSION } from './disk/segment-writer.js';

/** The minimum certainty for automatic recall, and the number of documents when it was measured. */
export interface Threshold {
  readonly documents: number;
  readonly certainty: number;
}

export const THRESHOLD_FILE = 'threshold.json';

/** Null if there is no usable one: text that is split into other words has another threshold. */
export function readThreshold(folder: string): Threshold | null {
  try {
    const stored: unknown = JSON.parse(readFileSync(join(folder, THRESHOLD_FILE), 'utf8'));
    if (typeof stored !== 'object' || stored === null) return null;
    const { version, documents, certainty } = Object.fromEntries(Object.entries(stored));
    return version === SEGMENT_VERSION &&
      typeof documents === 'number' &&
      typeof certainty === 'number' &&
      certainty > 0
      ? { documents, certainty }
      : null;
  } catch (thrown) {
    if (systemCode(thrown) === null && !(thrown instanceof SyntaxError)) throw thrown;
    return null;
  }
}

/** Throws system errors. */
export function writeThreshold(folder: string, threshold: Threshold): void {
  makeFolder(folder, 0o700);
  writeAside(join(folder, THRESHOLD_FILE), `${JSON.stringify({ version: SEGMENT_VERSION, ...threshold })}\n`, {
    mode: 0o600,
    synced: false,
  });
}

/** Whether to measure again: the conversation has doubled, or is shorter than it was. */
export function isOutdated(threshold: Threshold | null, documents: number): boolean {
  return threshold === null || documents >= 2 * threshold.documents || documents < threshold.documents / 2;
}
