import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../errors.js';
import { makeFolder } from '../folder.js';
import { writeAside } from '../write-aside.js';
import { SEGMENT_VERSION } from './disk/segment-writer.js';

/** The minimum certainty of what is recalled automatically from the whole conversation, and from its newest part. */
export interface Thresholds {
  readonly whole: number;
  readonly newest: number;
}

/** What automatic recall would have added to some of the user's earlier messages. */
export interface Sample {
  /** The number of documents when it was begun. */
  readonly documents: number;
  /** The number of messages so far. */
  readonly count: number;
  /** The sum of the tokens, by threshold (see `STEPS`). */
  readonly whole: readonly number[];
  readonly newest: readonly number[];
}

/** The stored calibration: the thresholds in effect, and the sample that they or the next ones come from. */
export interface Calibration {
  readonly thresholds: Thresholds;
  readonly sample: Sample;
}

/** The thresholds of a conversation that was not sampled yet. */
export const UNCALIBRATED: Thresholds = { whole: 1.5, newest: 1 };

/** The lowest thresholds. Lower ones would let through what shares a few frequent words with the question; of the newest messages, fewer do. */
export const LOWEST: Thresholds = { whole: 1.3, newest: 0.9 };

/** The possible thresholds. In tenths, so that they are read back as they are written. */
export const STEPS: readonly number[] = Array.from({ length: 62 }, (_, step) => (10 * LOWEST.newest + step) / 10);

export const THRESHOLD_FILE = 'threshold.json';

/** Null if there is no usable one: text that is split into other words has another threshold. */
export function readCalibration(folder: string): Calibration | null {
  try {
    const stored: unknown = JSON.parse(readFileSync(join(folder, THRESHOLD_FILE), 'utf8'));
    if (typeof stored !== 'object' || stored === null) return null;
    const { version, thresholds, sample } = Object.fromEntries(Object.entries(stored));
    return version === SEGMENT_VERSION && isThresholds(thresholds) && isSample(sample) ? { thresholds, sample } : null;
  } catch (thrown) {
    if (systemCode(thrown) === null && !(thrown instanceof SyntaxError)) throw thrown;
    return null;
  }
}

/** Throws system errors. */
export function writeCalibration(folder: string, calibration: Calibration): void {
  makeFolder(folder, 0o700);
  const stored = { version: SEGMENT_VERSION, ...calibration };
  writeAside(join(folder, THRESHOLD_FILE), `${JSON.stringify(stored)}\n`, { mode: 0o600, synced: false });
}

function isThresholds(stored: unknown): stored is Thresholds {
  if (typeof stored !== 'object' || stored === null || !('whole' in stored && 'newest' in stored)) return false;
  return [stored.whole, stored.newest].every((one) => typeof one === 'number' && one >= LOWEST.newest);
}

function isSample(stored: unknown): stored is Sample {
  if (typeof stored !== 'object' || stored === null || !('documents' in stored && 'count' in stored)) return false;
  if (!('whole' in stored && 'newest' in stored) || typeof stored.documents !== 'number') return false;
  const isSums = (sums: unknown): boolean =>
    Array.isArray(sums) && sums.length === STEPS.length && sums.every((sum) => typeof sum === 'number');
  return typeof stored.count === 'number' && isSums(stored.whole) && isSums(stored.newest);
}
