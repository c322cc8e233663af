import type { Entry } from '../chat/entry.js';
import type { TextPart } from '../chat/message.js';
import type { HistoryStore } from '../history/store.js';
import { AttachmentMover } from './attachment-mover.js';
import type { ForgetItem } from './items.js';
import { type Accounted, account, catchUp, emptyAccount } from './log-reader.js';
import { MemoryLines } from './memory-lines.js';
import type { SharedFolder } from './news.js';
import { OwnFiles } from './own-files.js';
import {
  emptyState,
  listOf,
  type MachineState,
  namesIn,
  namesOf,
  readBarred,
  readKnown,
  readState,
  type ShareState,
  shownName,
  statePaths,
  writeState,
} from './state.js';

/** What an exchange needs of the conversation. */
export type SharedHistory = Pick<
  HistoryStore,
  'loaded' | 'name' | 'refresh' | 'takeIn' | 'takeInMany' | 'readAll' | 'newest' | 'now' | 'reading' | 'totals'
>;

export interface ExchangeDeps {
  readonly history: SharedHistory;
  /** The data folder, and the path of `memory.md`. */
  readonly data: string;
  readonly memory: string;
  /** The user's name for this machine. */
  readonly name: string;
  /** The line before the first turn of a batch: where and when it was said. */
  line(machine: string, at: string): TextPart | null;
  /**
   * Reads the key of the folder, which is not needed while there is nothing to open or to write. Throws a `HiError`.
   */
  unlock(): Promise<void>;
  /** Resets this conversation, because all are; keeps no copy with `purge`. */
  reset(purge: boolean): Promise<void>;
  /**
   * Forgets these messages, which another machine forgot, and everything that rests on them, and leaves the mark of the
   * item.
   */
  forget(item: ForgetItem, ids: readonly number[]): Promise<void>;
}

/** Where this machine stands: what the history and the folder have, and what was done with it. */
export class Standing {
  readonly folder: SharedFolder;
  readonly deps: ExchangeDeps;
  readonly own: OwnFiles;
  readonly attachments: AttachmentMover;
  readonly lines: MemoryLines;
  readonly #paths: ReturnType<typeof statePaths>;
  state: { -readonly [Key in keyof ShareState]: ShareState[Key] };
  accounted: Accounted = emptyAccount();
  /** Whether the folder of this machine has files that were not read. */
  hasOthers = true;
  /** Set while everything is read anew: the names of the turns in the files of this machine. */
  inOwnFiles: Set<string> | null = null;
  /**
   * Set during a repair, which waits for no missing file, and gives out what is in none: the names of the turns in all
   * files.
   */
  inFiles: Set<string> | null = null;

  constructor(folder: SharedFolder, deps: ExchangeDeps) {
    this.folder = folder;
    this.deps = deps;
    this.#paths = statePaths(deps.data);
    this.own = new OwnFiles(folder, deps.name);
    this.attachments = new AttachmentMover(folder, deps.data);
    this.lines = new MemoryLines(deps.memory);
    this.state = emptyState(folder.id, deps.history.name);
  }

  /** Reads where this machine stands. If that does not fit the history or the folder, everything is read anew. */
  async begin(): Promise<void> {
    await this.deps.history.refresh();
    if (!(await this.#resume())) await this.readAll();
  }

  async #resume(): Promise<boolean> {
    const { history } = this.deps;
    const stored = readState(this.#paths);
    if (stored === null || stored.folder !== this.folder.id || stored.log !== history.name) return false;
    const known = readKnown(this.#paths, stored);
    const since = known && (await entriesSince(history, stored.last));
    if (known === null || since === null) return false;
    this.state = { ...stored };
    const { decisions, last } = stored;
    const [open, unfinished, pins] = [new Set(stored.open), new Map(stored.unfinished), new Map(stored.pins)];
    const forgotten = new Map(stored.forgotten.map((item) => [item.id, item]));
    this.accounted = { known, decisions, open, unfinished, pins, forgotten, last };
    for (const entry of since) account(this.accounted, entry);
    this.accounted.decisions = this.lines.decided(this.accounted.decisions, false);
    return true;
  }

  /** Looks which files of this machine there are. If one is gone, everything is read anew. */
  async compareOwn(): Promise<void> {
    if (this.inOwnFiles !== null) return;
    const { machine } = this.folder;
    const own = this.state.machines[machine];
    const { lacks, read, hasOthers } = this.own.compare(this.state.own, namesOf(own?.read ?? ''));
    if (lacks) return await this.readAll();
    this.hasOthers = hasOthers;
    if (own !== undefined) this.state.machines = { ...this.state.machines, [machine]: { ...own, read: listOf(read) } };
  }

  async readAll(): Promise<void> {
    const { history } = this.deps;
    this.hasOthers = true;
    this.inOwnFiles = new Set();
    this.state = emptyState(this.folder.id, history.name);
    await history.readAll((entries) => {
      this.accounted = emptyAccount();
      for (const name of namesIn(readBarred(this.#paths))) this.accounted.known.add(name, 0);
      for (const entry of entries) account(this.accounted, entry);
    });
  }

  /** What a machine is called here. */
  shown(machine: string, name: string): string {
    return shownName(machine, name, this.state, { id: this.folder.machine, name: this.deps.name });
  }

  /** The other machines, by the names that they have here. */
  get others(): readonly MachineState[] {
    const others = Object.entries(this.state.machines).filter(([id]) => id !== this.folder.machine);
    return others.map(([id, machine]) => ({ ...machine, name: this.shown(id, machine.name) }));
  }

  /** Accounts for what was written since. Only under the lock. */
  catchUp(): void {
    catchUp(this.accounted, this.deps.history.loaded);
  }

  /** Runs `work` under the lock, with everything accounted for, and stores where this machine stands then. */
  async locked(work: () => void): Promise<void> {
    await this.deps.history.takeIn(() => {
      this.catchUp();
      work();
      this.#store();
      return [];
    });
  }

  #store(): void {
    const { known, decisions, open, unfinished, pins, forgotten, last } = this.accounted;
    const standing = { ...this.state, log: this.deps.history.name, last, decisions };
    const lists = { open: [...open], unfinished: [...unfinished], pins: [...pins] };
    const next = { ...standing, ...lists, forgotten: [...forgotten.values()] };
    this.state = { ...writeState(this.#paths, next, known, this.inOwnFiles !== null) };
  }
}

/** The newest entries, from a known one on; null if that is not among them. */
async function entriesSince(history: SharedHistory, last: Accounted['last']): Promise<readonly Entry[] | null> {
  const after = (entries: readonly Entry[]): readonly Entry[] | null => {
    const at = entries.findLastIndex(({ id }) => id === last.id);
    return at >= 0 && entries[at]?.at === last.at ? entries.slice(at + 1) : null;
  };
  if (last.id === 0) return history.loaded.length === 0 ? [] : null;
  return after(history.loaded) ?? after(await history.newest(NEWEST));
}

/** So many messages are read where the known one is no longer needed for a request. */
const NEWEST = 200;

/** The later of two times. */
export const later = (one: string, other: string): string => (one > other ? one : other);
