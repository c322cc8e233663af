import type { Entry, NewCompressBlock } from '../chat/entry.js';
import type { ChatEvent } from '../chat/event.js';

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

/** Creates the block that compacts the log, including the turn `running`; null if there is nothing to compact. `unloaded` messages come before the entries. */
export type WriteBlock = (
  entries: readonly Entry[],
  running: number | null,
  unloaded: number,
) => AsyncGenerator<ChatEvent, NewCompressBlock | null>;

/** The size of the history, and its files. */
export interface Totals {
  readonly messages: number;
  readonly compactions: number;
  readonly last_compaction: string | null;
  /** The files of the history and its copies. */
  readonly files: readonly string[];
}
