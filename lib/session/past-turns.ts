import { type Entry, isCommandOutput, isMessage } from '../chat/entry.js';
import { lastSkillMessage } from '../chat/entry-list.js';
import { type Message, type Part, spokenParts, typedText } from '../chat/message.js';
import { HiError } from '../errors.js';
import type { HistoryStore } from '../history/store.js';
import { keptBy, newestBlock, turnsOf } from '../view/view.js';

/** A turn that is still sent, identified by its first message. */
export interface PastTurn {
  readonly id: number;
  readonly at: string;
  readonly text: string;
}

/** The turns in view that can be rewound, newest first. */
export function pastTurns(history: HistoryStore): readonly PastTurn[] {
  const begun = turnMessages(history).filter(({ id, turn }) => id === turn);
  return begun.map(({ id, at, content }) => ({ id, at, text: typedText(content) })).reverse();
}

/** The turns in view from a turn on, which rewinding it undoes. */
export function turnsFrom(history: HistoryStore, turn: number): readonly number[] {
  const later = turnMessages(history).filter((message) => message.turn >= turn);
  return [...new Set(later.map((message) => message.turn))];
}

/** Reverses the last undo or rewind. Resolves to the turns of `undoneLast`, which are sent again; throws like it. */
export async function redo(history: HistoryStore): Promise<readonly number[]> {
  const turns = (await undoneLast(history)).map(({ id }) => id);
  await history.mark({ type: 'redo', turns });
  return turns;
}

/**
 * The turns that the last undo or rewind took back, if nothing was said since: those in view again after a redo. Throws
 * a `HiError` of code `usage` if there is nothing to redo.
 */
export async function undoneLast(history: HistoryStore): Promise<readonly Pick<PastTurn, 'id' | 'text'>[]> {
  await history.refresh();
  const turns = redoable(history.entries);
  if (turns === null)
    throw new HiError('usage', 'There is nothing to redo.', {
      hint: 'Redo follows an undo or a rewind, before anything else is said. /history shows what was undone.',
    });
  const keeps = keptBy(newestBlock(history.entries), history.entries);
  const said = turns.map((id) => ({ id, content: userContentOf(history, id) }));
  const isInView = ({ id, content }: (typeof said)[number]): boolean =>
    content !== null && history.entries.some((entry) => isMessage(entry) && entry.turn === id && keeps(entry));
  if (!said.some(isInView))
    throw new HiError('usage', 'What was undone has been compacted since.', { hint: '/history shows it.' });
  return said.map(({ id, content }) => ({ id, text: typedText(content ?? []) }));
}

/**
 * The turns of the last undo that was not redone and that nothing followed. A turn without an answer does not count:
 * the provider failed.
 */
function redoable(entries: readonly Entry[]): readonly number[] | null {
  const whole = new Set(turnsOf(entries.filter(isMessage)).flatMap(({ id, finished }) => (finished ? [id] : [])));
  let undone: (readonly number[])[] = [];
  for (const entry of entries) {
    if (isMessage(entry)) undone = whole.has(entry.turn) ? [] : undone;
    else if (entry.type === 'undo' && entry.turns.some((turn) => whole.has(turn))) undone.push(entry.turns);
    else if (entry.type === 'redo') undone.pop();
  }
  return undone.at(-1) ?? null;
}

/**
 * The messages of the turns that are still sent. A compacted turn does not count, even if a pinned message of it is
 * sent.
 */
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

/** Throws a `HiError` if the user's message of a turn was removed by another process. */
export async function requireSaid(history: HistoryStore, turn: number): Promise<void> {
  await history.refresh();
  if ((userContentOf(history, turn) ?? []).length === 0)
    throw new HiError('history', `The message #${turn} was removed in the meantime.`);
}

/** Whether the last message of these turns is the output of a command. */
export function endsWithOutput(history: HistoryStore, turns: ReadonlySet<number>): boolean {
  const last = history.entries.findLast((entry) => isMessage(entry) && turns.has(entry.turn));
  return last !== undefined && isMessage(last) && isCommandOutput(last);
}

/** The skills of the newest message, whether or not it is still in view. */
export function activeSkills(history: HistoryStore): readonly string[] {
  return lastSkillMessage(history.entries)?.skills.active ?? [];
}
