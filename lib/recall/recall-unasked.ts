import { isAside } from '../chat/entry.js';
import { hasForeignParts } from '../chat/foreign-words.js';
import { searchedText } from './index/documents.js';
import { MOST, passageCost, tokenBound } from './passage-size.js';
import type { RankedDocument } from './rank/chooser.js';
import { parseQuery } from './rank/query.js';
import { certainty } from './rank/rank.js';
import { whoIsAsked } from './rank/who-is-asked.js';
import type { Reminder } from './search.js';
import type { Library } from './searched-index.js';
import type { Thresholds } from './threshold.js';

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
 * The newest part of a conversation is searched separately, because there is less in it that only seems to match: 150,000 tokens, at three for each word
 * that is not a stop word.
 */
const NEWEST_WORDS = 50_000;

/** The share of the tokens for passages from the whole conversation. The rest is for those from its newest part. */
const WHOLE_SHARE = 2 / 3;

/** The number of candidates to check, and the minimum score of one, as a share of the best one's. */
const LOOKED_AT = 64;
const AS_WELL = 0.5;

/** Candidates from the whole conversation, and from its newest part, best first. */
export interface Candidates {
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

/** Offers candidates, best first, as long as they are certain enough and fit. `offer` returns the tokens that it took, null for none. Returns what is left. */
export function spend(
  candidates: readonly RankedDocument[],
  certain: number,
  tokens: number,
  offer: (candidate: RankedDocument, left: number) => number | null,
): number {
  let [left, least] = [tokens, 0];
  for (const candidate of candidates) {
    if (candidate.score < least) break;
    if (certainty(candidate) < certain || candidate.terms === 0) continue;
    const cost = offer(candidate, left);
    if (cost === null) continue;
    if (cost > left) break;
    left -= cost;
    least ||= AS_WELL * candidate.score;
  }
  return left;
}

/** The tokens for passages from the whole conversation, and from its newest part. */
export function sharesOf(tokens: number): { readonly whole: number; readonly newest: number } {
  const whole = Math.floor(WHOLE_SHARE * tokens);
  return { whole, newest: tokens - whole };
}

/** The earlier messages on the subject of a message, best first, that fit into so many tokens, and the certainty of the best match. `check` throws when the time is over. */
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
  let room = tokens;
  const take = (candidates: readonly RankedDocument[], certain: number, share: number): void => {
    // In a small window a share may be smaller than a passage.
    const given = Math.min(room, Math.max(share, MOST));
    room -= given;
    room += spend(candidates, certain, given, (candidate, left) => {
      const reminder = reminderOf(library, candidate, known);
      if (reminder === null || isKnown(reminder, reminders, asked)) return null;
      const cost = passageCost(tokenBound(reminder.text.slice(0, 4 * MOST)));
      if (cost <= left) reminders.push(reminder);
      return cost;
    });
  };
  take(whole, thresholds.whole, shares.whole);
  take(newest, thresholds.newest, shares.newest);
  const best = [...whole, ...newest].reduce((most, candidate) => Math.max(most, certainty(candidate)), 0);
  return { reminders, best };
}

/**
 * The reminder for a candidate; null if the model already has it, if it was said in an aside, or if it is not the user's or the model's own, whatever
 * the index says.
 */
function reminderOf(library: Library, candidate: RankedDocument, { isSeen, isSaid }: Known): Reminder | null {
  const message = library.message(candidate.document);
  if (message === null || isAside(message) || isSeen(message.id)) return null;
  const text = searchedText(message);
  if (isSaid(text)) return null;
  const said = library.said(message);
  const isOwn = said.origin === 'model' || (said.origin === 'user' && !hasForeignParts(message));
  return isOwn ? { ...said, text, certainty: certainty(candidate) } : null;
}

/** Whether another reminder or the message itself has the same text. */
function isKnown({ text }: Reminder, reminders: readonly Reminder[], asked: string): boolean {
  return text.trim().toLowerCase() === asked.toLowerCase() || reminders.some((other) => other.text === text);
}
