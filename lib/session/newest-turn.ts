import { isMessage } from '../chat/entry.js';
import { lastSkillMessage } from '../chat/entry-list.js';
import { type Message, type Part, spokenParts } from '../chat/message.js';
import type { HistoryStore } from '../history/store.js';
import { keptBy, newestBlock } from '../view/view.js';

/** The messages of the turns that are still sent. A compacted turn does not count, even if a pinned message of it is sent. */
export function turnMessages(history: HistoryStore): readonly Message[] {
  const { entries } = history;
  const { messages, pinned } = history.view(null);
  return pinned === undefined ? messages : messages.filter(keptBy(newestBlock(entries), entries));
}

/** The user's message of a turn; null if it is not in view. */
export function userContentOf(history: HistoryStore, turn: number | null): readonly Part[] | null {
  const found = history.entries.findLast(({ id }) => id === turn);
  return found && isMessage(found) ? spokenParts(found.content) : null;
}

/** The skills of the newest message, whether or not it is still in view. */
export function activeSkills(history: HistoryStore): readonly string[] {
  return lastSkillMessage(history.entries)?.skills.active ?? [];
}
