import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileNamesIn } from '../remove-files.js';
import { removeIfThere } from '../write-aside.js';
import { PROCESS_NAME } from './base/history-paths.js';
import { touch } from './lock/heartbeat.js';
import { unchangedFor } from './lock/observations.js';
import { livenessOf, processName } from './lock/process-name.js';

const MARK_PREFIX = 'history.turn.';

/** How often a process sends a heartbeat during a turn, in milliseconds. */
const HEARTBEAT_INTERVAL = 2000;

/** A remote mark that has not changed for this long, in milliseconds, belongs to a dead process. */
const REMOTE_TIMEOUT = 30_000;

/** The open mark files of this process. */
const marks = new Map<string, number>();
let timer: NodeJS.Timeout | undefined;

/** Marks that turn as running in this process. Only under the lock, before its first message is written. */
export function markRunning(folder: string, turn: number): void {
  livingMarks(folder);
  const path = markOf(folder, turn);
  clearRunning(folder, turn);
  marks.set(path, openSync(path, 'w', 0o600));
  timer ??= setInterval(() => {
    for (const file of marks.values()) touch(file);
  }, HEARTBEAT_INTERVAL).unref();
}

/** Removes the mark when the turn has ended. A mark that is left behind is removed when the next turn begins. */
export function clearRunning(folder: string, turn: number): void {
  const path = markOf(folder, turn);
  const file = marks.get(path);
  if (file !== undefined) closeSync(file);
  marks.delete(path);
  if (marks.size === 0) {
    clearInterval(timer);
    timer = undefined;
  }
  clear(path);
}

/** The turns that are running in live processes. Removes the marks of dead ones. */
export function runningTurns(folder: string): ReadonlySet<number> {
  return new Set(livingMarks(folder).map(({ turn }) => turn));
}

interface Mark {
  readonly name: string;
  readonly turn: number;
  readonly process: string;
}

function livingMarks(folder: string): readonly Mark[] {
  const names = fileNamesIn(folder).filter((name) => name.startsWith(MARK_PREFIX));
  const found = names.flatMap((name): Mark[] => {
    const [, turn, process = ''] = /^(\d+)\.(.+)$/.exec(name.slice(MARK_PREFIX.length)) ?? [];
    return PROCESS_NAME.test(process) ? [{ name, turn: Number(turn), process }] : [];
  });
  const elsewhere = found.filter(({ process }) => livenessOf(process) === 'elsewhere').map(({ name }) => name);
  const quiet = unchangedFor(folder, elsewhere);
  return found.filter(({ name, process }) => {
    const lives = livenessOf(process) !== 'gone' && (quiet.get(name) ?? 0) <= REMOTE_TIMEOUT;
    if (!lives) clear(join(folder, name));
    return lives;
  });
}

function markOf(folder: string, turn: number): string {
  return join(folder, `${MARK_PREFIX}${turn}.${processName()}`);
}

function clear(path: string): void {
  try {
    removeIfThere(path);
  } catch {
    // A folder that is read-only now keeps its marks until the next turn begins.
  }
}
