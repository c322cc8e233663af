import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Entry, isMessage } from '../chat/entry.js';
import { withoutRepeated } from '../chat/entry-list.js';
import { type Message, type NewMessage, newUid, typedText } from '../chat/message.js';
import { fileNamesIn, readRegularFile, removeIfThere, requireRegularFile } from '../disk.js';
import { openTurns } from '../view/view.js';
import { type HistoryPaths, PROCESS_NAME } from './base/history-paths.js';
import { withHistoryErrors } from './base/notices.js';
import { addKeptAnswers, keepTurn } from './kept-answers.js';
import { livenessOf, processName, touch, unchangedFor } from './lock/holder.js';
import type { Log } from './log.js';

/** A turn that is running in this process. */
interface RunningTurn {
  /** The conversation that it was written to. */
  readonly log: string | null;
  /** Its messages on disk. Their ids change if the conversation is reset meanwhile. */
  readonly messages: readonly Message[];
}

/** The turns of this process, from their first message to their last. */
export class RunningTurns {
  readonly #log: Log;
  readonly #paths: HistoryPaths | null;
  /** The folder of the marks that show other processes the running turns; null if nothing is written. */
  readonly #folder: string | null;
  readonly #running = new Map<number, RunningTurn>();

  /** `paths` is null if nothing is written. */
  constructor(log: Log, paths: HistoryPaths | null) {
    this.#log = log;
    this.#paths = paths;
    this.#folder = paths?.folder ?? null;
  }

  /** The current id of a turn that began as `turn`. */
  idOf(turn: number): number {
    return this.#running.get(turn)?.messages[0]?.turn ?? turn;
  }

  /**
   * Writes the message that begins a turn. What it repeats of others stays away unless the log still has that edition.
   * `signal` ends the wait for another process.
   */
  async begin(message: NewMessage, at: string, edition: number, signal?: AbortSignal): Promise<Message> {
    const named = { ...message, uid: message.uid ?? newUid() };
    const [begun] = await this.#write((next) => [withIds(this.#asOf(edition, named), next, next, at)], signal);
    if (begun === undefined) throw new Error('The first message of a turn was not written.');
    this.#track(begun.id, [begun]);
    return begun;
  }

  /**
   * Appends messages to a turn, like `begin`; none with `onlyThen` if the edition is another one. If the conversation
   * was reset meanwhile, the whole turn moves to the new one. If they cannot be written, or the process ends while it
   * waits for another one, they are kept beside the conversation.
   */
  async append(
    turn: number,
    given: readonly NewMessage[],
    at: string,
    edition: number,
    onlyThen = false,
  ): Promise<readonly Message[]> {
    const { log, messages: before } = this.#running.get(turn) ?? { log: this.#log.name, messages: [] };
    let moved = false;
    const written = await this.#writeOrKeep(turn, given, at, (next) => {
      if (onlyThen && edition !== this.#log.edition) return [];
      const messages = given.map((message) => this.#asOf(edition, message));
      moved = this.#isGone(log, before);
      if (!moved) return messages.map((message, index) => withIds(message, next + index, this.idOf(turn), at));
      const again = before.map((message, index) => ({
        ...message,
        content: withoutRepeated(message.content),
        id: next + index,
        turn: next,
      }));
      return [...again, ...messages.map((message, index) => withIds(message, next + again.length + index, next, at))];
    });
    if (written.length === 0) return [];
    if (before.length > 0) this.#track(turn, moved ? written : [...before, ...written]);
    return written.slice(-given.length);
  }

  async #writeOrKeep(
    turn: number,
    given: readonly NewMessage[],
    at: string,
    plan: (next: number) => readonly Message[],
  ): Promise<readonly Message[]> {
    const paths = this.#paths;
    const { messages } = this.#running.get(turn) ?? { messages: [] };
    if (paths === null || messages.length === 0 || given.length === 0) return await this.#write(plan);
    let isPlanned = false;
    const keep = (): void => {
      const next = (messages.at(-1)?.id ?? 0) + 1;
      const rest = given.map((message, index) => withIds(message, next + index, this.idOf(turn), at));
      if (!isPlanned) keepTurn(paths, messages, rest);
    };
    process.prependListener('exit', keep);
    try {
      return await this.#write((next) => {
        isPlanned = true;
        return plan(next);
      });
    } catch (thrown) {
      keep();
      throw thrown;
    } finally {
      process.off('exit', keep);
    }
  }

  /** Writes a running turn into the current conversation if the one in which it began was reset. */
  async follow(turn: number, at: string): Promise<void> {
    const held = this.#running.get(turn);
    if (held !== undefined && this.#isGone(held.log, held.messages)) await this.append(turn, [], at, this.#log.edition);
  }

  #asOf(edition: number, message: NewMessage): NewMessage {
    return edition === this.#log.edition ? message : { ...message, content: withoutRepeated(message.content) };
  }

  /**
   * True when the messages of a turn are not in the current conversation: it was reset, or replaced by an older copy.
   */
  #isGone(log: string | null, messages: readonly Message[]): boolean {
    const [first] = messages;
    return first !== undefined && (log !== this.#log.name || !this.#log.contains(first));
  }

  /** Stops tracking a turn, to which nothing will be appended. */
  end(turn: number): void {
    if (this.#running.has(turn)) this.#release(turn);
  }

  /** Stops tracking the turns that still run. */
  abandon(): void {
    for (const turn of this.#running.keys()) this.#release(turn);
  }

  /** Writes messages. The mark of a new turn comes first, so that a running turn never looks like a crashed one. */
  async #write(plan: (next: number) => readonly Message[], signal?: AbortSignal): Promise<readonly Message[]> {
    let marked: number | null = null;
    try {
      const markedPlan = (next: number): readonly Message[] => {
        const messages = plan(next);
        const first = messages[0];
        if (this.#folder !== null && first?.id === first?.turn) {
          // The id changed, because the lock was lost meanwhile.
          if (marked !== null && marked !== next) clearRunning(this.#folder, marked);
          markRunning(this.#folder, next);
          marked = next;
        }
        return messages;
      };
      return await this.#log.write(markedPlan, signal);
    } catch (thrown) {
      if (this.#folder !== null && marked !== null) clearRunning(this.#folder, marked);
      throw thrown;
    }
  }

  #track(turn: number, messages: readonly Message[]): void {
    const before = this.#running.get(turn)?.messages[0]?.turn;
    const now = messages[0]?.turn;
    if (this.#folder !== null && before !== undefined && before !== now) clearRunning(this.#folder, before);
    this.#running.set(turn, { log: this.#log.name, messages });
    if (openTurns(messages).length === 0) this.#release(turn);
  }

  #release(turn: number): void {
    if (this.#folder !== null) clearRunning(this.#folder, this.idOf(turn));
    this.#running.delete(turn);
  }
}

function withIds(message: NewMessage, id: number, turn: number, at: string): Message {
  return { id, turn, at, ...message };
}

const MARK_PREFIX = 'history.turn.';

/** How often a process sends a heartbeat during a turn, in milliseconds. */
const HEARTBEAT_INTERVAL = 2000;

/** A remote mark that has not changed for this long, in milliseconds, belongs to a dead process. */
const REMOTE_TIMEOUT = 30_000;

/** The open mark files of this process. */
const marks = new Map<string, number>();
let timer: NodeJS.Timeout | undefined;

/** Marks that turn as running in this process. Only under the lock, before its first message is written. */
function markRunning(folder: string, turn: number): void {
  livingMarks(folder);
  const path = markOf(folder, turn);
  clearRunning(folder, turn);
  marks.set(path, openSync(path, 'w', 0o600));
  timer ??= setInterval(() => {
    for (const file of marks.values()) touch(file);
  }, HEARTBEAT_INTERVAL).unref();
}

/** Removes the mark when the turn has ended. A mark that is left behind is removed when the next turn begins. */
function clearRunning(folder: string, turn: number): void {
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

/** The turns that a crash cut short. */
interface CrashedTurns {
  /** The newest turn if it is one of them: its text can be sent again. */
  readonly turn: number | null;
  /** About those that were not reported yet, and those whose answer was kept beside the conversation. */
  readonly notices: readonly string[];
}

/** Finds the unfinished turns that belong to no live process. Each is reported once. Throws a `HiError`. */
export async function findCrashedTurns(log: Log, paths: HistoryPaths): Promise<CrashedTurns> {
  const suspects = openTurns(log.entries);
  if (suspects.length === 0) return { turn: null, notices: [] };
  return await withHistoryErrors(paths.history, () => crashedAmong(suspects, log, paths));
}

async function crashedAmong(suspects: readonly number[], log: Log, paths: HistoryPaths): Promise<CrashedTurns> {
  const running = runningTurns(paths.folder);
  // A turn may have ended between the reading of the log and of the marks.
  await log.refresh();
  const answered = await addKeptAnswers(log, paths, running);
  const open = new Set(openTurns(log.entries));
  const isAnswered = (turn: number): boolean => answered.some((one) => one.turn === turn);
  const crashed = suspects.filter((turn) => open.has(turn) && !running.has(turn) && !isAnswered(turn));
  const name = log.name ?? '';
  const unreported = crashed.filter((turn) => turn > lastReportedTurn(paths.reportedCrashes, name));
  const newest = unreported.at(-1);
  if (newest !== undefined) saveLastReportedTurn(paths.reportedCrashes, name, newest);
  const last = crashed.at(-1) ?? null;
  return {
    turn: last === newestTurn(log.entries) ? last : null,
    notices: [
      ...answered
        .filter(({ isAdded }) => isAdded)
        .map(
          ({ turn }) => `The answer to “${promptOf(log.entries, turn)}” was added, which had to wait for another hi.`,
        ),
      ...(newest === undefined ? [] : [crashNotice(unreported.length, promptOf(log.entries, newest))]),
    ],
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

/** The last turn of that conversation whose crash was reported, 0 for none. */
function lastReportedTurn(path: string, log: string): number {
  try {
    const [name, turn] = readRegularFile(path).toString().split(' ');
    return name === log ? Number(turn) : 0;
  } catch {
    return 0;
  }
}

/** Saves it. If that fails, the crash is reported again next time. */
function saveLastReportedTurn(path: string, log: string, turn: number): void {
  try {
    requireRegularFile(path);
    writeFileSync(path, `${log} ${turn}`, { mode: 0o600 });
  } catch {
    // Reporting twice is better than failing.
  }
}
