import { closeSync, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../errors.js';
import { fileNamesIn } from '../remove-files.js';
import { INSTANCE } from './base/history-paths.js';
import { instance, lifeOf } from './lock/instance.js';
import { renew } from './lock/renewal.js';
import { quietFor } from './lock/sightings.js';

const PREFIX = 'history.turn.';

/** How often, in milliseconds, a process shows that it is still in the middle of a turn. */
const RENEWAL = 2000;

/** The mark of a process elsewhere that was seen unchanged for so long, in milliseconds, belongs to a dead one. */
const SILENCE = 30_000;

/** The marks of this process, open. */
const marks = new Map<string, number>();
let timer: NodeJS.Timeout | undefined;

/** Says in the folder that this process is in the middle of that turn. Only under the lock, before the turn's first message is written. */
export function markRunning(folder: string, turn: number): void {
  livingMarks(folder);
  const path = markOf(folder, turn);
  clearRunning(folder, turn);
  marks.set(path, openSync(path, 'w', 0o600));
  timer ??= setInterval(() => {
    for (const file of marks.values()) renew(file);
  }, RENEWAL).unref();
}

/** Takes the mark away when the turn has ended. A mark that stays behind is cleared when the next turn begins. */
export function clearRunning(folder: string, turn: number): void {
  const path = markOf(folder, turn);
  const file = marks.get(path);
  if (file !== undefined) closeSync(file);
  marks.delete(path);
  if (marks.size === 0) {
    clearInterval(timer);
    timer = undefined;
  }
  remove(path);
}

/** The turns that living processes are in the middle of. The marks of dead ones are cleared away. */
export function runningTurns(folder: string): ReadonlySet<number> {
  return new Set(livingMarks(folder).map(({ turn }) => turn));
}

interface Mark {
  readonly name: string;
  readonly turn: number;
  readonly process: string;
}

function livingMarks(folder: string): readonly Mark[] {
  const names = fileNamesIn(folder).filter((name) => name.startsWith(PREFIX));
  const found = names.flatMap((name): Mark[] => {
    const [, turn, process = ''] = /^(\d+)\.(.+)$/.exec(name.slice(PREFIX.length)) ?? [];
    return INSTANCE.test(process) ? [{ name, turn: Number(turn), process }] : [];
  });
  const elsewhere = found.filter(({ process }) => lifeOf(process) === 'elsewhere').map(({ name }) => name);
  const quiet = quietFor(folder, elsewhere);
  return found.filter(({ name, process }) => {
    const lives = lifeOf(process) !== 'gone' && (quiet.get(name) ?? 0) <= SILENCE;
    if (!lives) clear(join(folder, name));
    return lives;
  });
}

function markOf(folder: string, turn: number): string {
  return join(folder, `${PREFIX}${turn}.${instance()}`);
}

/** `rmSync` loads what removes whole trees. */
function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (thrown) {
    if (systemCode(thrown) !== 'ENOENT') throw thrown;
  }
}

function clear(path: string): void {
  try {
    remove(path);
  } catch {
    // A folder that cannot be written keeps its marks; they belong to nobody.
  }
}
