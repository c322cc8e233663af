import { type Entry, isMessage } from '../chat/entry.js';
import type { JsonObject } from '../chat/json.js';
import { type Message, turnName } from '../chat/message.js';
import { heartbeat } from '../history/lock/holder.js';
import { runningTurns } from '../history/turns.js';
import { type Decisions, unsentDecisions, withReceived } from './decisions.js';
import { type DecisionItem, type ForgetItem, itemOf, type ResetItem } from './items.js';
import { isFinished, turnItem, withoutBarred } from './log-reader.js';
import { stateOfMachine } from './news.js';
import { inFolder } from './shared-folder.js';
import { later, type Standing } from './standing.js';
import { listOf, namesOf, RECENT } from './state.js';
import { type NamedSummary, namesIn, newestSummary, summaryItem } from './summaries.js';

/** A file with this many characters takes no further turn. */
const LARGEST_GIVEN = 1024 * 1024;

/** Gives out what is new on this machine. */
export class Giving {
  readonly #at: Standing;

  constructor(standing: Standing) {
    this.#at = standing;
  }

  async give(): Promise<void> {
    const { history } = this.#at.deps;
    await this.#at.deps.unlock();
    const [first] = history.loaded;
    const { open } = this.#at.accounted;
    if (this.#at.inOwnFiles !== null) this.#adoptOwnFiles(this.#at.inOwnFiles);
    const areFarBack = this.#at.inOwnFiles !== null || [...open].some((turn) => first !== undefined && turn < first.id);
    if (this.#at.inFiles !== null || (areFarBack && open.size > 0))
      await history.readAll((entries) => this.#giveAll(entries));
    const summary = await this.#newSummary();
    await this.#at.locked(() => {
      if (this.#at.inOwnFiles !== null)
        this.#inFolder(() => {
          this.#at.state.own = this.#at.own.fill(this.#at.state.own);
        });
      this.#cleanForgotten();
      const items = [...this.#newTurns(), ...this.#newDecisions()];
      this.#write([...items, ...this.#told(summary)]);
    });
    this.#at.inOwnFiles = null;
  }

  /** Gives out all turns of this machine that are in none of its files, however far back. Only under the lock. */
  #giveAll(entries: Iterable<Entry>): void {
    const { open } = this.#at.accounted;
    const turns = new Map<number, Message[]>();
    let items: string[] = [];
    let size = 0;
    for (const entry of entries) {
      heartbeat();
      if (!isMessage(entry)) continue;
      if (this.#isInNoFile(entry)) open.add(entry.turn);
      if (!open.has(entry.turn)) continue;
      const messages = [...(turns.get(entry.turn) ?? []), entry];
      turns.set(entry.turn, messages);
      const item = this.#finishedItem(messages);
      if (item === null) continue;
      turns.delete(entry.turn);
      open.delete(entry.turn);
      items.push(item);
      size += item.length;
      if (size < LARGEST_GIVEN) continue;
      this.#write(items);
      [items, size] = [[], 0];
    }
    this.#write(items);
  }

  /** Under the lock, the errors of the system would be taken for those of the history. */
  #inFolder<Result>(work: () => Result): Result {
    return inFolder(this.#at.folder.path, work);
  }

  /** During a repair, whether a message begins a turn of another machine that no machine has given out. */
  #isInNoFile(message: Message): boolean {
    const { inFiles, accounted } = this.#at;
    if (inFiles === null || message.from === undefined || message.id !== message.turn) return false;
    const name = turnName(message);
    return !inFiles.has(name) && accounted.known.idOf(name) === message.turn;
  }

  /** The files that are in this machine's folder already, and the turns in them, are given out. */
  #adoptOwnFiles(given: ReadonlySet<string>): void {
    const { known, open } = this.#at.accounted;
    for (const name of given) open.delete(known.idOf(name) ?? 0);
    const { read } = stateOfMachine(this.#at.state, this.#at.folder.machine);
    this.#at.state.own = this.#at.own.sizesOf(namesOf(read));
    this.#at.state.given = this.#at.own.newest;
  }

  /** The item of a turn as JSON, with its attachments given out; null if it is not finished. */
  #finishedItem(messages: readonly Message[]): string | null {
    const [first, ...others] = messages;
    if (first === undefined || !isFinished(messages)) return null;
    this.#inFolder(() => this.#at.attachments.give(messages));
    const own = stateOfMachine(this.#at.state, this.#at.folder.machine);
    const name = turnName(first);
    const recent = [...own.recent, name].slice(-RECENT);
    const counted = { ...own, turns: own.turns + 1, last: later(own.last ?? '', first.at), recent };
    this.#at.state.machines = {
      ...this.#at.state.machines,
      [this.#at.folder.machine]: { ...counted, first: own.first ?? name },
    };
    return JSON.stringify(turnItem([first, ...others]));
  }

  #write(items: readonly string[]): void {
    if (items.length === 0) return;
    this.#inFolder(() => {
      const { name, size, last } = this.#at.own.write(items, this.#at.state.given);
      this.#at.state.given = last;
      this.#at.state.own = this.#at.own.pack({ ...this.#at.state.own, [name]: size });
    });
    const before = stateOfMachine(this.#at.state, this.#at.folder.machine);
    const after = {
      ...before,
      name: this.#at.deps.name,
      read: listOf(new Set([...namesOf(before.read), ...Object.keys(this.#at.state.own)])),
    };
    this.#at.state.machines = { ...this.#at.state.machines, [this.#at.folder.machine]: after };
  }

  #newTurns(): readonly string[] {
    const { open } = this.#at.accounted;
    if (open.size === 0) return [];
    const turns = new Map<number, Message[]>([...open].map((turn) => [turn, []]));
    for (const entry of this.#at.deps.history.loaded) if (isMessage(entry)) turns.get(entry.turn)?.push(entry);
    const running = runningTurns(this.#at.deps.data);
    return [...turns].flatMap(([turn, messages]) => {
      const item = this.#finishedItem(messages);
      // One that was cut short is never continued.
      if (item !== null || !running.has(turn)) open.delete(turn);
      return item ?? [];
    });
  }

  /** The decisions that were made here. One about a turn that never finished concerns nobody else. */
  #newDecisions(): readonly string[] {
    const { decisions, known, open } = this.#at.accounted;
    const isShared = (turn: string): boolean => known.has(turn) && !open.has(known.idOf(turn) ?? 0);
    const told: DecisionItem[] = unsentDecisions(decisions).filter(
      (item) => item.kind === 'line' || isShared(item.kind === 'undo' ? item.turn : item.message[0]),
    );
    for (const item of told) this.#at.accounted.decisions = withReceived(this.#at.accounted.decisions, item);
    return told.map((item) => JSON.stringify(this.#at.lines.told(item)));
  }

  /** The newest summary if it was not given out. */
  async #newSummary(): Promise<NamedSummary | null> {
    const { accounted, state, deps } = this.#at;
    const newest = newestSummary(deps.history.loaded);
    const isTold = newest?.digest === state.summary && this.#newlyForgotten.length === 0;
    if (newest === null || isTold) return null;
    return { ...newest, names: await namesIn(newest, deps.history, accounted.known) };
  }

  /** A summary as an item, if it is still the newest. What was forgotten took it away. */
  #told(summary: NamedSummary | null): readonly string[] {
    const { accounted, state, deps, folder } = this.#at;
    const { loaded } = deps.history;
    if (summary === null || newestSummary(loaded)?.block.id !== summary.block.id) return [];
    state.summary = summary.digest;
    return [JSON.stringify(summaryItem(summary, loaded, accounted.known, state.machines, folder.machine))];
  }

  /**
   * Takes what stays away since a reset out of this machine's files, and tells the others of one that all are to carry
   * out.
   */
  async giveReset(item: ResetItem | null): Promise<void> {
    const { known } = this.#at.accounted;
    await this.#at.locked(() => {
      this.#inFolder(() => {
        this.#at.state.own = this.#at.own.clean(this.#at.state.own, (stored) => {
          const turn = itemOf(stored);
          if (turn?.kind === 'block') return null;
          return turn?.kind === 'turn' && known.has(turn.turn) && known.idOf(turn.turn) === null ? null : stored;
        });
        this.#at.attachments.clean();
      });
      if (item !== null) this.#write([JSON.stringify(item)]);
    });
  }

  get #newlyForgotten(): readonly ForgetItem[] {
    const { accounted, state } = this.#at;
    return [...accounted.forgotten.values()].filter(({ id }) => !state.cleaned.includes(id));
  }

  /** Takes what was forgotten out of this machine's files, and tells the others. */
  #cleanForgotten(): void {
    const news = this.#newlyForgotten;
    if (news.length === 0) return;
    const turns = new Set(news.flatMap((item) => item.turns));
    const messages = new Set(news.flatMap((item) => item.messages.map(String)));
    const { decisions } = this.#at.accounted;
    this.#inFolder(() => {
      this.#at.state.own = this.#at.own.clean(this.#at.state.own, (item) =>
        withoutForgotten(item, turns, messages, decisions),
      );
      this.#at.attachments.clean();
    });
    const { forgot } = stateOfMachine(this.#at.state, this.#at.folder.machine);
    this.#write(news.filter(({ id }) => !forgot.includes(id)).map((item) => JSON.stringify(item)));
    this.#at.state.cleaned = [...this.#at.state.cleaned, ...news.map(({ id }) => id)];
  }
}

/**
 * An item without forgotten messages, and without the text of a line that was removed; null if nothing is left of it.
 * Any summary may rest on them.
 */
function withoutForgotten(
  stored: JsonObject,
  turns: ReadonlySet<string>,
  messages: ReadonlySet<string>,
  decisions: Decisions,
): JsonObject | null {
  const item = itemOf(stored);
  if (item?.kind === 'line')
    return item.text !== undefined && decisions[`line ${item.line}`]?.item.value === false ? null : stored;
  if (item?.kind === 'block') return null;
  if (item?.kind !== 'turn') return stored;
  if (turns.has(item.turn)) return null;
  const kept = withoutBarred(item.turn, item.messages, (name) => messages.has(String(name)));
  if (kept === item.messages || item.messages.every((message) => kept.includes(message))) return stored;
  return kept.length === 0 ? null : { ...stored, messages: kept };
}
