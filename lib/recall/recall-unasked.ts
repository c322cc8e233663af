import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasForeignParts, isAside } from '../chat/entry.js';
import { makeFolder, writeAside } from '../disk.js';
import { systemCode } from '../errors.js';
import { monotonic } from '../waits.js';
import { SEGMENT_VERSION } from './disk/segment-writer.js';
import { searchedText } from './index/documents.js';
import type { RankedDocument } from './rank/chooser.js';
import { parseQuery, whoIsAsked } from './rank/query.js';
import { certainty } from './rank/rank.js';
import type { Reminder } from './search.js';
import type { Library } from './searched-index.js';

/** Facts about the conversation that are not in the index. */
export interface Known {
  /** Whether a message is in view, or was already recalled. */
  isSeen(id: number): boolean;
  /** Whether these words are in view. */
  isSaid(text: string): boolean;
}

/** Only typed messages of the user, and the model's answers to these alone. Foreign text is ignored completely. */
const OWN_WORDS = { kinds: ['user', 'model'], alone: true, from: null, until: null } as const;

/**
 * The newest part of a conversation is searched separately, because there is less in it that only seems to match:
 * 150,000 tokens, at three for each word that is not a stop word.
 */
const NEWEST_WORDS = 50_000;

/** The share of the tokens for passages from the whole conversation. The rest is for those from its newest part. */
const WHOLE_SHARE = 2 / 3;

/** The number of candidates to check, and the minimum score of one, as a share of the best one's. */
const LOOKED_AT = 64;
const AS_WELL = 0.5;

/**
 * Of two candidates that match as well, the shorter one comes first: more of them fit. Their scores are divided by this
 * power of their tokens.
 */
const BREVITY = 0.4;

/** The tokens of a text for each of its words that is not a stop word. */
const TOKENS_A_WORD = 3;

/** Candidates from the whole conversation, and from its newest part, best first. */
interface Candidates {
  readonly whole: readonly RankedDocument[];
  readonly newest: readonly RankedDocument[];
}

/** Searches for a message that follows the document before `end`. `check` throws when the time is over. */
export function candidatesFor(
  { scores }: Library,
  asked: string,
  { whole, newest }: Thresholds,
  { end = scores.count, check }: { readonly end?: number; readonly check?: () => void } = {},
): Candidates {
  const above = scores.firstOfNewest(NEWEST_WORDS, OWN_WORDS.kinds, end);
  const bounds = { ...OWN_WORDS, below: end, favour: whoIsAsked(asked), ...(check && { check }) };
  const [all = [], recent = []] = scores.bestOfEach(
    parseQuery(asked).terms,
    [
      { ...bounds, certain: whole },
      { ...bounds, certain: newest, above },
    ],
    LOOKED_AT,
  );
  return { whole: all, newest: recent };
}

/** Something to recall, and the tokens that it takes. */
interface Priced {
  readonly cost: number;
}

/**
 * The candidates that are certain enough and match nearly as well as the best one, as long as they fit. `price` returns
 * null for what the model already has.
 */
export function* fitting<Item extends Priced>(
  library: Library,
  candidates: readonly RankedDocument[],
  certain: number,
  tokens: number,
  price: (candidate: RankedDocument) => Item | null,
): Generator<Item> {
  const sure = candidates.filter((candidate) => certainty(candidate) >= certain && candidate.terms !== 0);
  const next = sure.slice(
    Math.max(
      0,
      sure.findIndex((candidate) => price(candidate) !== null),
    ),
  );
  const least = AS_WELL * (next[0]?.score ?? 0);
  const worth = (candidate: RankedDocument) => candidate.score / costOf(library, candidate) ** BREVITY;
  const asWell = next.filter(({ score }) => score >= least).sort((one, other) => worth(other) - worth(one));
  let left = tokens;
  for (const candidate of asWell) {
    const item = price(candidate);
    if (item === null) continue;
    left -= item.cost;
    if (left < 0) break;
    yield item;
  }
}

/** About the tokens of the passage of a document, according to the index. */
export function costOf({ scores }: Library, { document }: RankedDocument): number {
  return passageCost(TOKENS_A_WORD * scores.wordsOf(document));
}

/** The tokens for passages from the whole conversation, and from its newest part. */
export function sharesOf(tokens: number): { readonly whole: number; readonly newest: number } {
  const whole = Math.floor(WHOLE_SHARE * tokens);
  return { whole, newest: tokens - whole };
}

/** Thrown when the time of a search is over. Everything opened stays open for the next one. */
export class TooLate extends Error {}

/** Throws `TooLate` from the time `end` on. */
export const checkUntil = (end: number) => (): void => {
  if (monotonic() > end) throw new TooLate();
};

/**
 * The earlier messages on the subject of a message, best first, that fit into so many tokens, and the certainty of the
 * best match among them and those below the thresholds: what is in view is none. `check` throws when the time is over.
 */
export function recallUnasked(
  library: Library,
  asked: string,
  thresholds: Thresholds,
  tokens: number,
  known: Known,
  check: () => void,
): { readonly reminders: readonly Reminder[]; readonly best: number } {
  const { whole, newest } = candidatesFor(library, asked, thresholds, { check });
  const shares = sharesOf(tokens);
  const reminders: Reminder[] = [];
  const useless = new Set<number>();
  const price = (candidate: RankedDocument) => {
    const reminder = reminderOf(library, candidate, known);
    if (reminder === null || isKnown(reminder, reminders, asked)) {
      if (reminder === null) useless.add(candidate.document);
      return null;
    }
    return { reminder, cost: passageCost(tokenBound(reminder.text.slice(0, 4 * MOST))) };
  };
  let room = tokens;
  const take = (candidates: readonly RankedDocument[], certain: number, share: number): void => {
    // In a small window a share may be smaller than a passage.
    const given = Math.min(room, Math.max(share, MOST));
    for (const { reminder, cost } of fitting(library, candidates, certain, given, price)) {
      reminders.push(reminder);
      room -= cost;
    }
  };
  take(whole, thresholds.whole, shares.whole);
  take(newest, thresholds.newest, shares.newest);
  const useful = [...whole, ...newest].filter(({ document, terms }) => terms !== 0 && !useless.has(document));
  const best = useful.reduce((most, candidate) => Math.max(most, certainty(candidate)), 0);
  return { reminders, best };
}

/**
 * The reminder for a candidate; null if the model already has it, if it was said in an aside, or if it is not the
 * user's or the model's own, whatever the index says.
 */
function reminderOf(library: Library, candidate: RankedDocument, { isSeen, isSaid }: Known): Reminder | null {
  const message = library.message(candidate.document);
  if (message === null || isAside(message) || isSeen(message.id)) return null;
  const text = searchedText(message);
  if (isSaid(text)) return null;
  const said = library.said(message, library.volumeOf(candidate.document));
  const isOwn = said.origin === 'model' || (said.origin === 'user' && !hasForeignParts(message));
  return isOwn ? { ...said, text, certainty: certainty(candidate) } : null;
}

/** Whether another reminder or the message itself has the same text. */
function isKnown({ text }: Reminder, reminders: readonly Reminder[], asked: string): boolean {
  return text.trim().toLowerCase() === asked.toLowerCase() || reminders.some((other) => other.text === text);
}

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

/**
 * The lowest thresholds. Lower ones would let through what shares a few frequent words with the question; of the newest
 * messages, fewer do.
 */
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

/** The maximum number of tokens of a recalled passage, and of what stands before it. */
const PASSAGE = 160;
const HEAD = 16;

/** The maximum number of tokens that one passage takes. */
const MOST: number = HEAD + PASSAGE;

/**
 * An approximate upper bound of the tokens in a text: one for four letters of an alphabet, and one for any other
 * character.
 */
export function tokenBound(text: string): number {
  const wide = text.match(/[^\0-\u024f]/g)?.length ?? 0;
  return Math.ceil((text.length - wide) / 4 + wide);
}

/** The number of characters of a text in a recalled passage: fewer in a script in which each is a token. */
export function passageLength(text: string): number {
  const shown = text.slice(0, 4 * PASSAGE);
  return Math.floor((shown.length * PASSAGE) / Math.max(PASSAGE, tokenBound(shown)));
}

/** The tokens that the passage of a text of so many tokens takes. */
function passageCost(tokens: number): number {
  return HEAD + Math.min(PASSAGE, tokens);
}
