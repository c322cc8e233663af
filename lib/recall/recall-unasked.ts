import { hasForeignParts } from '../chat/foreign-words.js';
import { searchedText } from './index/documents.js';
import type { RankedDocument } from './rank/chooser.js';
import { parseQuery } from './rank/query.js';
import { certainty } from './rank/rank.js';
import { whoIsAsked } from './rank/who-is-asked.js';
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
export const OWN_WORDS = { kinds: ['user', 'model'], alone: true } as const;

/** The number of candidates to check, and of passages to return. */
const LOOKED_AT = 64;
const GIVEN = 3;

/** The minimum score of further passages, as a share of the best one's, and their minimum certainty, as a share of the threshold. */
const AS_WELL = 0.4;
const AS_SURE = 0.4;

/** The earlier messages on the subject of a message, best first, and the certainty of the best. `check` throws when the time is over. */
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

/** The reminder for a candidate; null if the model already has it, or if it is not the user's or the model's own, whatever the index says. */
function reminderOf(library: Library, candidate: RankedDocument, { isSeen, isSaid }: Known): Reminder | null {
  const message = library.message(candidate.document);
  if (message === null || isSeen(message.id)) return null;
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
