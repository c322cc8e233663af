import { type Entry, isMessage } from '../chat/entry.js';
import type { JsonObject } from '../chat/json.js';
import type { Message } from '../chat/message.js';
import { HiError } from '../errors.js';
import { attachmentsIn } from '../history/attachments.js';
import { progress } from '../history/base/notices.js';
import { runningTurns } from '../history/turns.js';
import { waitingDecisions, withReceived } from './decisions.js';
import { batchesOf, type ForgetItem, itemOf, type ResetItem, type SummaryItem, type TurnItem } from './items.js';
import { type Arriving, account, arrivedMessages, markOf } from './log-reader.js';
import { changedMachines, type News, newsOf, stateOfMachine } from './news.js';
import { inFolder } from './shared-folder.js';
import { later, type Standing } from './standing.js';
import { type MachineState, RECENT } from './state.js';
import { arrivedBlock, bestSummary, Coverage } from './summaries.js';

/** What came from another machine. */
export interface Arrival {
  /** The user's name for it. */
  readonly machine: string;
  readonly turns: number;
  /** When the newest one was said. */
  readonly last: string;
}

/** Fewer items than this are appended, however little is here. */
const MANY = 1000;

/** The state of a machine while its files are read. */
interface ReadState extends Omit<MachineState, 'name' | 'last' | 'first' | 'recent' | 'forgot'> {
  name: string;
  last: string | null;
  first: string | null;
  recent: readonly string[];
  readonly forgot: Set<string>;
}

/** How many turns are in the files of a machine, and how many of those with new numbers are here already. */
interface Found {
  turns: number;
  known: number;
}

/** What is being taken in of a machine. */
interface Coming {
  readonly machine: string;
  readonly read: ReadState;
  readonly found: Found;
  readonly turns: Turns;
  /** How many were not here. */
  came: number;
  /** Whether a line says where they were said. */
  isIntroduced: boolean;
}

/** What of some turns was not here. */
interface Came {
  readonly names: ReadonlySet<string>;
  readonly messages: readonly Message[];
  /** Whether a line says where the first of them was said. */
  readonly hasBegun: boolean;
}

const NONE: Came = { names: new Set(), messages: [], hasBegun: false };

/** Turns of all machines that are taken in in one pass over the history. */
interface Pass {
  /** How many items there are, for what is shown meanwhile. */
  readonly items: number;
  readonly isMeant: (coming: Coming) => (turn: TurnItem) => boolean;
  readonly hasLine: boolean;
  /** The messages with attachments. */
  readonly pictured: Message[];
  isBegun: boolean;
}

/** Turns that are read in several goes. */
class Turns {
  readonly #all: Iterator<TurnItem>;
  #next: TurnItem | null = null;

  constructor(all: Iterator<TurnItem>) {
    this.#all = all;
  }

  /** Those before the first that is not meant, which comes again in the next go. */
  *while(isMeant: (turn: TurnItem) => boolean): Generator<TurnItem> {
    for (;;) {
      const next = this.#next ?? this.#all.next().value ?? null;
      const isRead = next === null || isMeant(next);
      this.#next = isRead ? null : next;
      if (next === null || !isRead) return;
      yield next;
    }
  }
}

/** Takes in what the other machines have given out. */
export class Taking {
  readonly #at: Standing;

  constructor(standing: Standing) {
    this.#at = standing;
  }

  /** The resets of all machines that were read, with the names of the machines where they were asked for. */
  readonly resets: { readonly item: ResetItem; readonly machine: string }[] = [];

  /** Whether there may be something to take in, or to carry out. Throws the system's error. */
  get isDue(): boolean {
    const { state, accounted } = this.#at;
    const waiting = state.late.length + state.pending.length + waitingDecisions(accounted.decisions).length;
    return waiting > 0 || this.#changed(Date.now()).length > 0;
  }

  #changed(now: number): readonly string[] {
    return changedMachines(this.#at.folder, this.#at.state, now, this.#at.hasOthers);
  }

  async takeAll(): Promise<Arrival[]> {
    // Not the time of the history: it is compared with that of the file system.
    const now = Date.now();
    const arrivals: Arrival[] = [];
    const changed = this.#changed(now);
    if (changed.length + this.#at.state.late.length > 0) await this.#at.deps.unlock();
    const isNew = this.#at.accounted.last.id === 0 && this.#at.accounted.known.count === 0;
    const news = changed.map((machine) =>
      newsOf(this.#at.folder, machine, stateOfMachine(this.#at.state, machine), now, this.#at.inFiles === null),
    );
    const coming = news.map((one) => this.#coming(one));
    const items = news.reduce((sum, one) => sum + one.items, 0);
    if (isNew) await this.#beginWith(bestSummary(news), coming, items);
    const left = items - coming.reduce((sum, { found }) => sum + found.turns, 0);
    if (this.#areMost(left)) await this.#takeMany(coming, { items: left, isMeant: () => () => true, hasLine: true });
    for (const one of coming) {
      const arrival = await this.#take(one);
      if (arrival.turns > 0 && one.machine !== this.#at.folder.machine) arrivals.push(arrival);
    }
    this.#at.state.late = this.#at.attachments.fetchLate(this.#at.state.late);
    await this.#forgetPending();
    await this.#carryOut();
    return arrivals;
  }

  /**
   * Whether so many items are taken in by writing the whole history anew, which takes half as long where they are more
   * than what is here.
   */
  #areMost(items: number): boolean {
    return items > MANY && items > this.#at.deps.history.totals.messages;
  }

  #coming({ machine, state, files }: News): Coming {
    const read = { ...state, forgot: new Set(state.forgot) };
    const found = { turns: 0, known: 0 };
    return {
      machine,
      read,
      found,
      turns: new Turns(this.#turnsIn(files, machine, read, found)),
      came: 0,
      isIntroduced: false,
    };
  }

  /**
   * Where nothing is here yet, first takes in what a summary of another machine covers, and then the summary, so that
   * only what comes behind it is sent.
   */
  async #beginWith(summary: SummaryItem | null, coming: readonly Coming[], items: number): Promise<void> {
    if (summary === null) return;
    const coverage = new Coverage(summary);
    const isMeant = ({ machine }: Coming): ((turn: TurnItem) => boolean) => coverage.of(machine);
    if (this.#areMost(items)) await this.#takeMany(coming, { items, isMeant, hasLine: false });
    else for (const one of coming) await this.#takeTurns(one, isMeant(one), false);
    const { history } = this.#at.deps;
    const block = await arrivedBlock(summary, coverage.skipped, history, this.#at.accounted.known);
    await history.takeIn((next): readonly Entry[] => {
      this.#at.catchUp();
      const written = block?.(next, history.now().toISOString()) ?? null;
      return written === null ? [] : [written];
    });
    this.#at.catchUp();
  }

  async #take(coming: Coming): Promise<Arrival> {
    await this.#takeTurns(coming, () => true, true);
    const { machine, read, found, came } = coming;
    const turns = read.turns + (this.#at.inOwnFiles === null ? came + found.known : found.turns);
    const whole = { ...read, turns, forgot: [...read.forgot] };
    this.#at.state.machines = { ...this.#at.state.machines, [machine]: whole };
    return { machine: this.#at.shown(machine, read.name), turns: came, last: read.last ?? '' };
  }

  /** Takes in the turns of a machine up to the first that is not meant. */
  async #takeTurns(coming: Coming, isMeant: (turn: TurnItem) => boolean, hasLine: boolean): Promise<void> {
    for (const batch of batchesOf(coming.turns.while(isMeant))) await this.#append(batch, coming, hasLine);
  }

  /** The turns in files of a machine, in their order. What else is in a file is read with it. */
  *#turnsIn(files: News['files'], machine: string, read: ReadState, found: Found): Generator<TurnItem> {
    // Taking them in changes where this machine stands.
    const { done } = stateOfMachine(this.#at.state, machine);
    const isOwn = machine === this.#at.folder.machine;
    for (const { name, first, items } of files) {
      read.name = name;
      for (const stored of items) {
        const item = itemOf(stored);
        if (item?.kind === 'turn') {
          if (isOwn) this.#at.inOwnFiles?.add(item.turn);
          this.#at.inFiles?.add(item.turn);
          read.recent = [...read.recent, item.turn].slice(-RECENT);
          // What was cleared or forgotten here is no part of the conversation.
          const { known } = this.#at.accounted;
          if (known.has(item.turn) && known.idOf(item.turn) === null) continue;
          read.last = later(read.last ?? '', timeOf(item.messages[0])) || null;
          read.first ??= item.turn;
          found.turns += 1;
          if (!isOwn && first > done && known.has(item.turn)) found.known += 1;
          yield item;
        } else if (item?.kind === 'forget') {
          read.forgot.add(item.id);
          if (!this.#at.accounted.forgotten.has(item.id)) this.#at.state.pending = [...this.#at.state.pending, item];
        } else if (item?.kind === 'reset') this.resets.push({ item, machine: this.#at.shown(machine, name) });
        else if (item !== null && item.kind !== 'block')
          this.#at.accounted.decisions = withReceived(this.#at.accounted.decisions, item);
      }
    }
  }

  /** Appends the turns that are not here. A line is put before the first one with `hasLine`. */
  async #append(items: readonly TurnItem[], coming: Coming, hasLine: boolean): Promise<void> {
    const late = this.#at.attachments.fetch(items, coming.machine);
    let came: Came = NONE;
    const written = await this.#at.deps.history.takeIn((next) => {
      this.#at.catchUp();
      came = this.#arrived(items, next, coming, hasLine);
      return came.messages;
    });
    this.#at.catchUp();
    this.#at.attachments.commit(written);
    this.#at.state.late = [...this.#at.state.late, ...late];
    this.#count(coming, came);
  }

  #count(coming: Coming, { names, hasBegun }: Came): void {
    const { known, open } = this.#at.accounted;
    coming.came += names.size;
    coming.isIntroduced ||= hasBegun;
    if (coming.machine === this.#at.folder.machine) for (const name of names) open.delete(known.idOf(name) ?? 0);
  }

  /** Takes in the turns of all machines that are meant in one pass over the history. */
  async #takeMany(all: readonly Coming[], which: Pick<Pass, 'items' | 'isMeant' | 'hasLine'>): Promise<void> {
    const pass: Pass = { ...which, pictured: [], isBegun: false };
    await this.#at.deps.history.takeInMany((next) => {
      // What was read of the files is gone, and what was accounted for may not be in the history.
      if (pass.isBegun)
        throw new HiError('history', 'Another hi took the lock of the history.', { hint: 'Try again.' });
      this.#at.catchUp();
      return this.#arriving(all, next, pass);
    });
    this.#at.attachments.commit(pass.pictured);
  }

  *#arriving(all: readonly Coming[], next: number, pass: Pass): Generator<Entry> {
    let [id, done] = [next, 0];
    pass.isBegun = true;
    for (const coming of all) {
      for (const batch of batchesOf(coming.turns.while(pass.isMeant(coming)))) {
        progress('Taking in the conversation', done, pass.items);
        const late = inFolder(this.#at.folder.path, () => this.#at.attachments.fetch(batch, coming.machine));
        this.#at.state.late = [...this.#at.state.late, ...late];
        const came = this.#arrived(batch, id, coming, pass.hasLine);
        for (const message of came.messages) {
          account(this.#at.accounted, message);
          if (attachmentsIn(message).length > 0) pass.pictured.push(message);
          yield message;
        }
        this.#count(coming, came);
        id += came.messages.length;
        done += batch.length;
      }
    }
    progress('Taking in the conversation', pass.items, pass.items);
  }

  /** Those of the turns that are not here, with ids from `next` on. */
  #arrived(items: readonly TurnItem[], next: number, { machine, read, isIntroduced }: Coming, hasLine: boolean): Came {
    const names = new Set<string>();
    let hasBegun = false;
    const messages: Message[] = [];
    const forgotten = [...this.#at.accounted.forgotten.values(), ...this.#at.state.pending];
    const barred = new Set(forgotten.flatMap((item) => item.messages.map(String)));
    const away = new Set(this.#at.state.pending.flatMap(({ turns }) => turns));
    const from = machine === this.#at.folder.machine ? null : machine;
    const arriving: Arriving = {
      from,
      isBarred: (name) => barred.has(String(name)),
      isRunning: (turn) => runningTurns(this.#at.deps.data).has(turn),
    };
    for (const item of items) {
      if (away.has(item.turn) || names.has(item.turn)) continue;
      const isNew = !this.#at.accounted.known.has(item.turn);
      const isFirst: boolean = hasLine && from !== null && !isIntroduced && isNew && !hasBegun;
      const line = isFirst ? this.#at.deps.line(this.#at.shown(machine, read.name), timeOf(item.messages[0])) : null;
      const arrived = arrivedMessages(item, this.#at.accounted, next + messages.length, arriving, line);
      if (arrived.length === 0) continue;
      hasBegun ||= isFirst;
      names.add(item.turn);
      for (const message of arrived) messages.push(message);
    }
    return { names, messages, hasBegun };
  }

  /**
   * Forgets what other machines forgot. What cannot be forgotten now, because it belongs to a running turn, is
   * forgotten later.
   */
  async #forgetPending(): Promise<void> {
    const pending = this.#at.state.pending.filter(({ id }) => !this.#at.accounted.forgotten.has(id));
    this.#at.state.pending = [];
    for (const item of pending) {
      if (this.#at.accounted.forgotten.has(item.id)) continue;
      try {
        await this.#at.deps.forget(item, await this.#idsOf(item));
      } catch (thrown) {
        if (!(thrown instanceof HiError)) throw thrown;
        this.#at.state.pending = [...this.#at.state.pending, item];
      }
      this.#at.catchUp();
    }
  }

  /** The ids of the messages that an item names. */
  async #idsOf({ turns, messages }: ForgetItem): Promise<readonly number[]> {
    const { known } = this.#at.accounted;
    const whole = new Set(turns.map((name) => known.idOf(name)));
    const single = new Set(messages.map(([turn, at, role]) => `${known.idOf(turn)},${at},${role}`));
    const ids: number[] = [];
    await this.#at.deps.history.readAll((entries) => {
      ids.length = 0;
      for (const entry of entries) {
        if (!isMessage(entry)) continue;
        if (whole.has(entry.turn) || single.has(`${entry.turn},${entry.at},${entry.role}`)) ids.push(entry.id);
      }
    });
    return ids;
  }

  /** Carries out the decisions of other machines. One about a turn that is not here yet waits. */
  async #carryOut(): Promise<void> {
    const { history } = this.#at.deps;
    if (this.#at.inOwnFiles !== null)
      this.#at.accounted.decisions = this.#at.lines.decided(this.#at.accounted.decisions, true);
    if (waitingDecisions(this.#at.accounted.decisions).length === 0) return;
    const needed = await this.#subjects();
    await history.takeIn((next) => {
      this.#at.catchUp();
      this.#at.accounted.decisions = this.#at.lines.carryOut(this.#at.accounted.decisions);
      const at = history.now().toISOString();
      const marks: Entry[] = [];
      for (const item of waitingDecisions(this.#at.accounted.decisions)) {
        const mark = markOf(item, this.#at.accounted, needed, next + marks.length, at);
        if (mark !== null) marks.push(mark);
      }
      return marks;
    });
    this.#at.catchUp();
  }

  /** The messages that are to be pinned or unpinned, which may be far back. */
  async #subjects(): Promise<readonly Entry[]> {
    const { known, decisions } = this.#at.accounted;
    const turns = new Set(
      waitingDecisions(decisions).flatMap((item) => (item.kind === 'pin' ? [known.idOf(item.message[0])] : [])),
    );
    turns.delete(null);
    const found: Entry[] = [];
    if (turns.size > 0)
      await this.#at.deps.history.readAll((entries) => {
        found.length = 0;
        for (const entry of entries) if (isMessage(entry) && turns.has(entry.turn)) found.push(entry);
      });
    return found;
  }
}

const timeOf = (message: JsonObject | undefined): string => (typeof message?.at === 'string' ? message.at : '');
