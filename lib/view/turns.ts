import { type Entry, isMessage } from '../chat/entry.js';
import { undoneTurns } from '../chat/entry-list.js';
import type { Message } from '../chat/message.js';

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
  const found = new Map<number, { readonly kept: Message[]; newest: Message }>();
  let current: { readonly kept: Message[]; newest: Message } | undefined;
  for (const entry of entries) {
    if (!isMessage(entry) || undone.has(entry.turn)) continue;
    // Fast path: the next message nearly always belongs to the same turn.
    if (entry.turn !== current?.newest.turn) {
      current = found.get(entry.turn) ?? { kept: [], newest: entry };
      found.set(entry.turn, current);
    }
    current.newest = entry;
    if (keeps(entry)) current.kept.push(entry);
  }
  return [...found.values()]
    .filter(({ kept }) => kept.length > 0)
    .map(({ kept, newest }) => turn(kept, newest))
    .sort((one, other) => one.id - other.id);
}

/** Whether it is over does not depend on what of it is kept. */
function turn(messages: readonly Message[], newest: Message): Turn {
  return { id: newest.turn, messages, finished: endsTurn(newest), last: newest.id, at: newest.at };
}

function endsTurn(message: Message): boolean {
  if (message.stop_reason === undefined) return false;
  return message.role === 'user' || (message.role === 'assistant' && message.stop_reason !== 'tool_calls');
}
