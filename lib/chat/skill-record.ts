import { type Entry, isMessage } from './entry.js';
import type { Message, SkillRecord } from './message.js';
import { undoneTurns } from './undone.js';

/** A user message with its record of the skills. */
type SkillMessage = Message & { readonly skills: SkillRecord };

/**
 * The newest message with a record of the skills that was not undone, or null.
 * Older records add nothing: each continues the one before.
 */
export function lastSkillMessage(entries: readonly Entry[]): SkillMessage | null {
  const undone = undoneTurns(entries);
  const hasSkills = (entry: Entry): entry is SkillMessage =>
    isMessage(entry) && entry.skills !== undefined && !undone.has(entry.turn);
  return entries.findLast(hasSkills) ?? null;
}
