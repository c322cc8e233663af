import { hasForeignParts } from '../chat/foreign-words.js';
import { searchedText } from './index/documents.js';
import type { RankedDocument } from './rank/chooser.js';
import { parseQuery } from './rank/query.js';
import { certainty } from './rank/rank.js';
import { whoIsAsked } from './rank/who-is-asked.js';
import type { Reminder } from './search.js';
import type { Library } from './searched-index.js';

/** What is known of the conversation besides the index. */
export interface Known {
  /** Whether the model sees a message already, or was reminded of it. */
  isSeen(id: number): boolean;
  /** Whether it sees these words. */
  isSaid(text: string): boolean;
}

/** Only what the user typed, and what the model said with nothing but that before it: what others wrote does not count at all. */
export const OWN_WORDS = { kinds: ['user', 'model'], alone: true } as const;

/** So many candidates are looked at, and so many passages are given. */
const LOOKED_AT = 64;
const GIVEN = 3;

/** What goes with the best that may be given fits at least so well, as a share of that, and is so sure, as a share of what the first has to be. */
const AS_WELL = 0.4;
const AS_SURE = 0.4;

/** What was said that a message is about, best first, and how sure the search is of the best. `check` throws when there is no more time. */
export function recallUnasked(
  library: Library,
  asked: string,
  threshold: number,
  known: Known,
  check: () => void,
): { readonly reminders: readonly Reminder[]; readonly best: number } {
  const { terms } = parseQuery(asked);
  const certain = AS_SURE * threshold;
  const bounds = { ...OWN_WORDS, certain, from: null, until: null, favour: whoIsAsked(asked), check };
  const candidates = library.scores.best(terms, bounds, LOOKED_AT);
  const best = candidates.reduce((most, candidate) => Math.max(most, certainty(candidate)), 0);
  let least = 0;
  const reminders: Reminder[] = [];
  for (const candidate of candidates) {
    if (reminders.length === GIVEN || candidate.score < least) break;
    if ((reminders.length === 0 && certainty(candidate) < threshold) || candidate.terms === 0) continue;
    check();
    const reminder = reminderOf(library, candidate, known);
    if (reminder === null || isKnown(reminder, reminders, asked)) continue;
    least ||= AS_WELL * candidate.score;
    reminders.push(reminder);
  }
  return { reminders, best };
}

/** Null for what is known, and for what is not the user's or the model's own, whatever the index says. */
function reminderOf(library: Library, candidate: RankedDocument, { isSeen, isSaid }: Known): Reminder | null {
  const message = library.message(candidate.document);
  if (message === null || isSeen(message.id)) return null;
  const text = searchedText(message);
  if (isSaid(text)) return null;
  const said = library.said(message);
  const isOwn = said.origin === 'model' || (said.origin === 'user' && !hasForeignParts(message));
  return isOwn ? { ...said, text, certainty: certainty(candidate) } : null;
}

/** Whether its words are given already, or are those that ask for it. */
function isKnown({ text }: Reminder, reminders: readonly Reminder[], asked: string): boolean {
  return text.trim().toLowerCase() === asked.toLowerCase() || reminders.some((other) => other.text === text);
}
