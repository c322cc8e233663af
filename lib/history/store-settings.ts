import type { Entry, NewCompressBlock } from '../chat/entry.js';
import type { ChatEvent } from '../chat/event.js';

/** Where the history is, and whether it may be written. */
export interface HistorySettings {
  /** The data folder. */
  readonly folder: string;
  now(): Date;
  /** Nothing is written; what is added lives in memory only (`--ephemeral`). */
  readonly ephemeral?: boolean;
}

/** Makes the block that shortens the log, the turn `running` included; null when there is nothing to compact. `unloaded` messages come before the entries. */
export type WriteBlock = (
  entries: readonly Entry[],
  running: number | null,
  unloaded: number,
) => AsyncGenerator<ChatEvent, NewCompressBlock | null>;

/** How long the history is and where. */
export interface Totals {
  readonly messages: number;
  readonly compactions: number;
  readonly last_compaction: string | null;
  /** The files on disk that hold it or a copy of it. */
  readonly files: readonly string[];
}
