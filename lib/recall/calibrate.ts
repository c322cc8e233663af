import { typedText } from '../chat/message.js';
import { monotonic } from '../waits.js';
import { askedIn, mayAsk } from './asked.js';
import type { RankedDocument } from './rank/chooser.js';
import {
  type Calibration,
  candidatesFor,
  costOf,
  fitting,
  LOWEST,
  type Sample,
  STEPS,
  sharesOf,
  type Thresholds,
  UNCALIBRATED,
} from './recall-unasked.js';
import type { Library } from './searched-index.js';

/**
 * The number of the user's messages to sample, the minimum number that must exist, and the number from which their
 * thresholds are used.
 */
const SAMPLED = 200;
const LEAST = 20;
const ENOUGH = 50;

/**
 * The tokens that may be recalled for a message, whatever the configuration says, and the average share of them that a
 * threshold may let through.
 */
const TOKENS = sharesOf(3000);
const SPENT = 0.83;

/** The documents right before a message, which were in view. */
const IN_VIEW = 6;

/** The samples are spread by the golden ratio, so that any number of them are from all of the time. */
const SPREAD = (Math.sqrt(5) - 1) / 2;

/**
 * The calibration with more samples, as many as fit into `budget` milliseconds, at least one; the same one if it is
 * complete. Throws read errors.
 */
export function calibrated(library: Library, known: Calibration | null, budget: number): Calibration | null {
  const { count } = library.scores;
  const asked = askedBefore(library);
  if (asked.length < LEAST) return known;
  let sample = known !== null && !isOutdated(known.sample, count) ? known.sample : emptySample(count);
  if (sample.count >= SAMPLED) return known;
  for (const end = monotonic() + budget; sample.count < SAMPLED; ) {
    const at = Math.floor(((sample.count * SPREAD) % 1) * asked.length);
    sample = withMessage(sample, library, asked[at] ?? 0);
    if (monotonic() > end) break;
  }
  const thresholds = sample.count < ENOUGH ? (known?.thresholds ?? UNCALIBRATED) : thresholdsOf(sample);
  return { thresholds, sample };
}

/** Whether nothing can be added to it now. */
export function isComplete(library: Library, known: Calibration | null): boolean {
  return isSampled(known, library.scores.count) || askedBefore(library).length < LEAST;
}

/** Whether so many documents were measured with all samples. */
export function isSampled(known: Calibration | null, count: number): boolean {
  return known !== null && known.sample.count >= SAMPLED && !isOutdated(known.sample, count);
}

/** Whether the conversation has doubled since a sample was begun, or is shorter than it was. */
function isOutdated({ documents }: Sample, count: number): boolean {
  return count >= 2 * documents || count < documents / 2;
}

/**
 * The user's messages in the newer half of the conversation, oldest first: before the others there was less to recall.
 */
function askedBefore({ scores }: Library): readonly number[] {
  return scores.within({ kinds: ['user'], from: null, until: null, favour: {}, above: scores.count >> 1 });
}

function emptySample(documents: number): Sample {
  const none = STEPS.map(() => 0);
  return { documents, count: 0, whole: none, newest: none };
}

/** Adds what would have been recalled for a message, by threshold. */
function withMessage(sample: Sample, library: Library, document: number): Sample {
  const message = library.message(document);
  const asked = message === null ? '' : askedIn(typedText(message.content));
  const count = sample.count + 1;
  if (!mayAsk(asked)) return { ...sample, count };
  const end = Math.max(0, document - IN_VIEW);
  const { whole, newest } = candidatesFor(library, asked, { whole: LOWEST.newest, newest: LOWEST.newest }, { end });
  const price = (candidate: RankedDocument) => ({ cost: costOf(library, candidate) });
  const spent = (candidates: readonly RankedDocument[], tokens: number) => (sum: number, step: number) =>
    [...fitting(library, candidates, STEPS[step] ?? 0, tokens, price)].reduce((all, { cost }) => all + cost, sum);
  return {
    ...sample,
    count,
    whole: sample.whole.map(spent(whole, TOKENS.whole)),
    newest: sample.newest.map(spent(newest, TOKENS.newest)),
  };
}

/** The lowest thresholds at which the sampled messages would have got, on average, a share of what may be recalled. */
function thresholdsOf({ count, whole, newest }: Sample): Thresholds {
  const lowest = (sums: readonly number[], tokens: number, least: number): number =>
    STEPS.find((certain, step) => certain >= least && (sums[step] ?? 0) <= SPENT * tokens * count) ?? STEPS.at(-1) ?? 0;
  return {
    whole: lowest(whole, TOKENS.whole, LOWEST.whole),
    newest: lowest(newest, TOKENS.newest, LOWEST.newest),
  };
}
