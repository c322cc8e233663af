import { type Entry, isMessage } from '../chat/entry.js';
import { typedText } from '../chat/message.js';
import { HiError } from '../errors.js';
import type { HistoryStore } from '../history/store.js';
import { turnsOf } from '../view/turns.js';
import { keptBy, newestBlock } from '../view/view.js';
import { turnMessages, userContentOf } from './newest-turn.js';

/** A turn that is still sent, by what began it. */
export interface PastTurn {
  readonly id: number;
  readonly at: string;
  readonly text: string;
}

/** The turns in view that can be gone back before, the newest first. */
export function pastTurns(history: HistoryStore): readonly PastTurn[] {
  const begun = turnMessages(history).filter(({ id, turn }) => id === turn);
  return begun.map(({ id, at, content }) => ({ id, at, text: typedText(content) })).reverse();
}

/** The turns in view from one on: what going back before it undoes. */
export function turnsFrom(history: HistoryStore, turn: number): readonly number[] {
  const later = turnMessages(history).filter((message) => message.turn >= turn);
  return [...new Set(later.map((message) => message.turn))];
}

/**
 * Takes the last undo or rewind back, as long as nothing was said since. Resolves to the turns that are sent again. Throws a `HiError` of code `usage` where there is
 * nothing to take back.
 */
export async function redo(history: HistoryStore): Promise<readonly number[]> {
  await history.refresh();
  const turns = redoable(history.entries);
  if (turns === null)
    throw new HiError('usage', 'There is nothing to redo.', {
      hint: 'Redo follows an undo or a rewind, before anything else is said. /history shows what was undone.',
    });
  const keeps = keptBy(newestBlock(history.entries), history.entries);
  const isInView = (turn: number): boolean =>
    userContentOf(history, turn) !== null &&
    history.entries.some((entry) => isMessage(entry) && entry.turn === turn && keeps(entry));
  if (!turns.some(isInView))
    throw new HiError('usage', 'A compaction has gone by what was undone.', { hint: '/history shows it.' });
  await history.mark({ type: 'redo', turns });
  return turns;
}

/** The turns of the last undo that was not redone and that nothing followed. A turn without an answer is no turn: it was undone because the provider failed. */
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
