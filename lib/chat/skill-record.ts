import { type Entry, isMessage, type Message, type SkillRecord } from './message.js';
import { undoneTurns } from './undone.js';

/** A user message with what the skills did for it. */
type Skilled = Message & { readonly skills: SkillRecord };

/**
 * The newest message that recorded how the skills stand and was not taken back, or null.
 * Older ones have nothing to add: each record goes on from the one before.
 */
export function lastSkilled(entries: readonly Entry[]): Skilled | null {
  const undone = undoneTurns(entries);
  const isSkilled = (entry: Entry): entry is Skilled =>
    isMessage(entry) && entry.skills !== undefined && !undone.has(entry.turn);
  return entries.findLast(isSkilled) ?? null;
}
