import { AttachmentStore } from './attachment-store.js';
import type { HistoryPaths } from './base/history-paths.js';
import type { Notices } from './base/notices.js';
import { Log } from './log.js';
import { RunningTurns } from './running-turns.js';

/** A conversation as this process holds it. With `writes` false what is added to it stays in memory. */
class Held {
  readonly log: Log;
  readonly turns: RunningTurns;
  readonly attachments: AttachmentStore;

  constructor(paths: HistoryPaths, now: () => Date, writes: boolean, notices: Notices) {
    this.log = new Log(paths, now, writes, notices);
    this.attachments = new AttachmentStore(paths, this.log, notices);
    this.turns = new RunningTurns(this.log, writes ? paths.folder : null);
  }
}

/** The conversation in use: the one in the files or, off the record, what was said since in memory, on top of it. */
export class Conversation {
  readonly #paths: HistoryPaths;
  readonly #now: () => Date;
  readonly #notices: Notices;
  readonly #stored: Held;
  #off: Held | null = null;
  /** How many messages there were before it. */
  #before = 0;

  constructor(paths: HistoryPaths, now: () => Date, writes: boolean, notices: Notices) {
    this.#paths = paths;
    this.#now = now;
    this.#notices = notices;
    this.#stored = new Held(paths, now, writes, notices);
  }

  get isOffRecord(): boolean {
    return this.#off !== null;
  }

  get log(): Log {
    return (this.#off ?? this.#stored).log;
  }

  get turns(): RunningTurns {
    return (this.#off ?? this.#stored).turns;
  }

  get attachments(): AttachmentStore {
    return (this.#off ?? this.#stored).attachments;
  }

  /** Keeps what follows in memory only. */
  async goOffRecord(): Promise<void> {
    if (this.#off !== null) return;
    const off = new Held(this.#paths, this.#now, false, this.#notices);
    await off.log.refresh();
    this.#before = off.log.facts.messages;
    this.#off = off;
  }

  /** Forgets everything since then. Resolves to how many messages that were. */
  async goOnRecord(): Promise<number> {
    if (this.#off === null) return 0;
    const forgotten = this.#off.log.facts.messages - this.#before;
    await this.#stored.log.refresh();
    this.#off.log.close();
    this.#off = null;
    return forgotten;
  }
}
