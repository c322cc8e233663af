import type { Entry, NewCompressBlock } from '../chat/entry.js';
import type { ChatEvent } from '../chat/event.js';
import { type View, view } from '../view/view.js';
import { AttachmentStore } from './attachment-store.js';
import type { HistoryPaths } from './base/history-paths.js';
import type { Notices } from './base/notices.js';
import { messagesIn } from './file/entries.js';
import { Log, type LogUse } from './log.js';
import { moveToResetCopy, purge as purgeAll, restoreResetCopy } from './reset-history.js';
import { RunningTurns } from './turns.js';

/** A conversation and its state in this process. */
class LoadedConversation {
  readonly log: Log;
  readonly turns: RunningTurns;
  readonly attachments: AttachmentStore;
  #shown: { readonly version: number; readonly running: number | null; readonly view: View } | null = null;

  constructor(paths: HistoryPaths, now: () => Date, use: LogUse, notices: Notices) {
    this.log = new Log(paths, now, use, notices);
    this.attachments = new AttachmentStore(paths, this.log, notices);
    this.turns = new RunningTurns(this.log, use.keeping === 'kept' ? paths : null);
  }

  view(running: number | null): View {
    const turn = running === null ? null : this.turns.idOf(running);
    const { version, entries } = this.log;
    if (this.#shown?.version !== version || this.#shown.running !== turn)
      this.#shown = { version, running: turn, view: view(entries, turn) };
    return this.#shown.view;
  }
}

/** The conversation in use: the one on disk or, off the record, the same with the newer entries in memory only. */
export class Conversation {
  readonly #paths: HistoryPaths;
  readonly #now: () => Date;
  readonly #notices: Notices;
  readonly #stored: LoadedConversation;
  #off: LoadedConversation | null = null;

  constructor(paths: HistoryPaths, now: () => Date, use: LogUse, notices: Notices) {
    this.#paths = paths;
    this.#now = now;
    this.#notices = notices;
    this.#stored = new LoadedConversation(paths, now, use, notices);
  }

  get log(): Log {
    return (this.#off ?? this.#stored).log;
  }

  /** How many messages are on disk, without what is kept in memory only. */
  get kept(): number {
    const { facts, own, isKept } = this.#stored.log;
    return facts.messages - (isKept ? 0 : messagesIn(own));
  }

  get turns(): RunningTurns {
    return (this.#off ?? this.#stored).turns;
  }

  get attachments(): AttachmentStore {
    return (this.#off ?? this.#stored).attachments;
  }

  /** The view that is sent, with the turn that is running here. */
  view(running: number | null): View {
    return (this.#off ?? this.#stored).view(running);
  }

  /** Moves the conversation to the copy; with `purge`, removes it and all copies. */
  async reset(purge: boolean): Promise<void> {
    if (purge) await this.attachments.releasePending();
    await this.log.exclusively(() => {
      if (purge) for (const notice of purgeAll(this.#paths)) this.#notices.add(notice);
      else moveToResetCopy(this.#paths);
    });
  }

  /** Restores the copy. Throws a `HiError` when there is none. */
  async undoReset(): Promise<void> {
    await this.log.exclusively(() => restoreResetCopy(this.#paths));
  }

  /** Keeps later messages in memory only. */
  async goOffRecord(): Promise<void> {
    if (this.#off !== null) return;
    const { isAside } = this.#stored.log;
    const use: LogUse = { keeping: 'off-record', isAside };
    const off = new LoadedConversation(this.#paths, this.#now, use, this.#notices);
    await off.log.refresh();
    this.#off = off;
  }

  /** Forgets the messages since then. Resolves to their number. */
  async goOnRecord(): Promise<number> {
    if (this.#off === null) return 0;
    const forgotten = messagesIn(this.#off.log.own);
    await this.#stored.log.refresh();
    this.#off.log.close();
    this.#off = null;
    return forgotten;
  }
}

/** The place of the history, and whether it may be written. */
export interface HistorySettings {
  /** The data folder. */
  readonly folder: string;
  now(): Date;
  /** Nothing is written; new entries are kept in memory only (`--ephemeral`). */
  readonly ephemeral?: boolean;
  /** What is said is an aside: nothing of the conversation is in its view, and it is in no later view (`--fresh`). */
  readonly aside?: boolean;
}

/**
 * Creates the block that compacts the log, including the turn `running`; null if there is nothing to compact.
 * `unloaded` messages come before the entries.
 */
export type WriteBlock = (
  entries: readonly Entry[],
  running: number | null,
  unloaded: number,
) => AsyncGenerator<ChatEvent, NewCompressBlock | null>;

/** The size of the history, and its files. */
export interface Totals {
  readonly messages: number;
  /** Without those that are in memory only. */
  readonly kept: number;
  readonly compactions: number;
  /** How many of these were taken back, or take one back. */
  readonly taken_back: number;
  readonly last_compaction: string | null;
  /** The files of the history and its copies. */
  readonly files: readonly string[];
}
