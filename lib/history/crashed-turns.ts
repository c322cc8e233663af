import { type Entry, isMessage } from '../chat/entry.js';
import { typedText } from '../chat/message.js';
import { openTurns } from '../view/view.js';
import { withHistoryErrors } from './base/history-error.js';
import type { HistoryPaths } from './base/history-paths.js';
import type { Log } from './log.js';
import { lastReportedTurn, saveLastReportedTurn } from './reported-crashes.js';
import { runningTurns } from './turn-marks.js';

/** The turns that a crash cut short. */
export interface CrashedTurns {
  /** The newest turn if it is one of them: its text can be sent again. */
  readonly turn: number | null;
  /** The notice about those that were not reported yet, null for none. */
  readonly notice: string | null;
}

/** Finds the unfinished turns that belong to no live process. Each is reported once. Throws a `HiError`. */
export async function findCrashedTurns(log: Log, paths: HistoryPaths): Promise<CrashedTurns> {
  const suspects = openTurns(log.entries);
  if (suspects.length === 0) return { turn: null, notice: null };
  return await withHistoryErrors(paths.history, () => crashedAmong(suspects, log, paths));
}

async function crashedAmong(suspects: readonly number[], log: Log, paths: HistoryPaths): Promise<CrashedTurns> {
  const running = runningTurns(paths.folder);
  // A turn may have ended between the reading of the log and of the marks.
  await log.refresh();
  const open = new Set(openTurns(log.entries));
  const crashed = suspects.filter((turn) => open.has(turn) && !running.has(turn));
  const name = log.name ?? '';
  const unreported = crashed.filter((turn) => turn > lastReportedTurn(paths.reportedCrashes, name));
  const newest = unreported.at(-1);
  if (newest !== undefined) saveLastReportedTurn(paths.reportedCrashes, name, newest);
  const last = crashed.at(-1) ?? null;
  return {
    turn: last === newestTurn(log.entries) ? last : null,
    notice: newest === undefined ? null : crashNotice(unreported.length, promptOf(log.entries, newest)),
  };
}

function crashNotice(count: number, words: string): string {
  return count === 1
    ? `The turn “${words}” was cut short before its answer was complete. It is kept but not sent; /retry asks again.`
    : `${count} turns were cut short before their answers were complete, the newest “${words}”. They are kept but not sent; /retry asks again.`;
}

/** The beginning of the user's message. */
function promptOf(entries: readonly Entry[], turn: number): string {
  const asked = entries.find((entry) => entry.id === turn);
  const text = asked && isMessage(asked) ? typedText(asked.content).replace(/\s+/g, ' ').trim() : '';
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

function newestTurn(entries: readonly Entry[]): number {
  return entries.reduce((newest, entry) => (isMessage(entry) ? Math.max(newest, entry.turn) : newest), 0);
}
