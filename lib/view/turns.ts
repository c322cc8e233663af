import { type Entry, isMessage } from '../chat/entry.js';
import type { Message } from '../chat/message.js';
import { undoneTurns } from '../chat/undone.js';

/** The messages that share a turn id, in the order they were written. */
export interface Turn {
  readonly id: number;
  readonly messages: readonly Message[];
  /** True when the turn is over: the answer ended, was refused or was interrupted, or the turn is the note of a local command. */
  readonly finished: boolean;
  /** The id of its newest message. */
  readonly last: number;
  /** When its newest message was written. */
  readonly at: string;
}

/**
 * All turns that were not undone, in the order they began, regardless of the order in which processes wrote their messages.
 * With `keeps`, only the messages it keeps, and only turns with at least one of them.
 */
export function turnsOf(entries: readonly Entry[], keeps: (message: Message) => boolean = () => true): readonly Turn[] {
  const undone = undoneTurns(entries);
  const found = new Map<number, Message[]>();
  let id = Number.NaN;
  let messages: Message[] = [];
  for (const entry of entries) {
    if (!isMessage(entry) || undone.has(entry.turn) || !keeps(entry)) continue;
    // Fast path: the next message nearly always belongs to the same turn.
    if (entry.turn !== id) {
      id = entry.turn;
      messages = found.get(id) ?? [];
      found.set(id, messages);
    }
    messages.push(entry);
  }
  return [...found].map(([turnId, all]) => turn(turnId, all)).sort((one, other) => one.id - other.id);
}

function turn(id: number, messages: readonly Message[]): Turn {
  const newest = messages.at(-1);
  return { id, messages, finished: endsTurn(newest), last: newest?.id ?? id, at: newest?.at ?? '' };
}

function endsTurn(message: Message | undefined): boolean {
  if (message?.stop_reason === undefined) return false;
  return message.role === 'user' || (message.role === 'assistant' && message.stop_reason !== 'tool_calls');
}
