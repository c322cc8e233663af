import type { CompressBlock, Entry } from '../chat/entry.js';
import { undoneTurns } from '../chat/entry-list.js';
import { type Message, type Part, spokenParts } from '../chat/message.js';

/**
 * The messages that the user keeps through compactions, by id: those in the block, and what was pinned and unpinned since. While a turn runs, later marks do
 * not count, so that each of its requests extends the one before.
 */
export function pinnedIn(
  entries: readonly Entry[],
  block: CompressBlock | null,
  running: number | null,
): ReadonlyMap<number, Message> {
  const pinned = markedIn(entries, block, running);
  if (pinned.size === 0) return pinned;
  const undone = undoneTurns(entries);
  return new Map([...pinned].filter(([, { turn }]) => !undone.has(turn)));
}

/** The pinned messages that a new block must contain, those in undone turns after its cut included, because the user may redo these. */
export function pinsOver(
  cut: number,
  entries: readonly Entry[],
  block: CompressBlock | null,
  running: number | null,
): readonly Message[] {
  const undone = undoneTurns(entries);
  return [...markedIn(entries, block, running).values()].filter(({ turn }) => !undone.has(turn) || turn > cut);
}

/** The messages that are pinned now, in undone turns too. */
function markedIn(
  entries: readonly Entry[],
  block: CompressBlock | null,
  running: number | null,
): ReadonlyMap<number, Message> {
  const { until = 0, messages = [] } = block?.pins ?? {};
  const pinned = new Map(messages.map((message) => [message.id, message]));
  for (const entry of entries) {
    if (!('type' in entry) || entry.id <= until || (running !== null && entry.id > running)) continue;
    if (entry.type === 'pin') pinned.set(entry.message.id, entry.message);
    else if (entry.type === 'unpin') for (const id of entry.messages) pinned.delete(id);
  }
  return pinned;
}

/** The messages with the pinned ones that are not among them, each in its place. */
export function withPinned(messages: readonly Message[], pinned: ReadonlyMap<number, Message>): readonly Message[] {
  if (pinned.size === 0) return messages;
  const sent = new Set(messages.map(({ id }) => id));
  const more = [...pinned.values()].filter(({ id }) => !sent.has(id));
  if (more.length === 0) return messages;
  return [...more, ...messages].sort((one, other) => one.turn - other.turn || one.id - other.id);
}

/** The part of a message that is pinned: its text, images and documents. */
export function pinnable({ id, turn, at, role, content, cwd }: Message): Message {
  const kept = spokenParts(content).flatMap((part): Part[] => {
    if (part.type === 'image' || part.type === 'document') return [part];
    if (part.type !== 'text' || part.text === '') return [];
    return [{ type: 'text', text: part.text }];
  });
  return { id, turn, at, role, content: kept, cwd };
}
