import { isMessage } from '../chat/entry.js';
import { type Message, type Part, spokenParts } from '../chat/message.js';
import { lastSkillMessage } from '../chat/skill-record.js';
import type { HistoryStore } from '../history/store.js';
import { keptBy, newestBlock } from '../view/view.js';

/** The messages of the turns that are still sent. Of a turn that a compaction has gone by, what is pinned is sent, but it is no turn any more. */
export function turnMessages(history: HistoryStore): readonly Message[] {
  const { entries } = history;
  const { messages, pinned } = history.view(null);
  return pinned === undefined ? messages : messages.filter(keptBy(newestBlock(entries), entries));
}

/** The newest finished turn that is still sent; null when there is none. */
export function newestTurn(history: HistoryStore): number | null {
  return turnMessages(history).at(-1)?.turn ?? null;
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
