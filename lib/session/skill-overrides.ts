import { isMessage } from '../chat/entry.js';
import type { HistoryStore } from '../history/store.js';
import type { SkillOverrides } from '../skills/common/skill-library.js';

/** Merges overrides: the newest for a skill counts. */
export function overridesAfter(earlier: SkillOverrides, later: SkillOverrides): SkillOverrides {
  const stands = (name: string): boolean => !later.pin.includes(name) && !later.drop.includes(name);
  return {
    pin: [...earlier.pin.filter(stands), ...later.pin],
    drop: [...earlier.drop.filter(stands), ...later.drop],
  };
}

/** The skills loaded and dropped by hand with the first message of a turn. */
export function overridesOf(history: HistoryStore, turn: number): SkillOverrides {
  const found = history.entries.findLast(({ id }) => id === turn);
  const { pinned = [], dropped = [] } = (found && isMessage(found) && found.skills) || {};
  return { pin: pinned, drop: dropped };
}
