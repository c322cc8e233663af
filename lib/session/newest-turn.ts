import { isMessage } from '../chat/entry.js';
import { type Part, spokenParts } from '../chat/message.js';
import { lastSkillMessage } from '../chat/skill-record.js';
import type { HistoryStore } from '../history/store.js';

/** The newest finished turn that is still sent; null when there is none. */
export function newestTurn(history: HistoryStore): number | null {
  return history.view(null).messages.at(-1)?.turn ?? null;
}

/** What the user said at the beginning of a turn; null when that is not at hand. */
export function userContentOf(history: HistoryStore, turn: number | null): readonly Part[] | null {
  const found = history.entries.findLast(({ id }) => id === turn);
  return found && isMessage(found) ? spokenParts(found.content) : null;
}

/** The skills that went with the newest message, whether a compaction has left it in the view or not. */
export function activeSkills(history: HistoryStore): readonly string[] {
  return lastSkillMessage(history.entries)?.skills.active ?? [];
}
