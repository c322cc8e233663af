import { closeSync, openSync, readdirSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from './failure.js';
import { instance, isAlive } from './instance.js';

const PREFIX = 'history.turn.';

/** Says in the folder that this process is in the middle of that turn. Only under the lock, before the turn's first message is written. */
export function markRunning(folder: string, turn: number): void {
  closeSync(openSync(markOf(folder, turn), 'w', 0o600));
}

/** Takes the mark away when the turn has ended. A mark that stays behind is cleared by a later start. */
export function clearRunning(folder: string, turn: number): void {
  remove(markOf(folder, turn));
}

/** The turns that living processes are in the middle of. The marks of dead ones are cleared away. */
export function runningTurns(folder: string): ReadonlySet<number> {
  const turns = new Set<number>();
  for (const name of namesIn(folder)) {
    const [, turn, process] = /^(\d+)\.(.+)$/.exec(name.slice(PREFIX.length)) ?? [];
    if (turn === undefined || process === undefined) continue;
    const path = join(folder, name);
    const age = (): number => Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (isAlive(process, age)) turns.add(Number(turn));
    else clear(path);
  }
  return turns;
}

function markOf(folder: string, turn: number): string {
  return join(folder, `${PREFIX}${turn}.${instance()}`);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.startsWith(PREFIX));
  } catch (thrown) {
    if (systemCode(thrown) === 'ENOENT') return [];
    throw thrown;
  }
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
