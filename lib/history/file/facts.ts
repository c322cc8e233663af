import { type Entry, isAside, isCompressBlock, isMessage } from '../../chat/entry.js';

/** Totals of the whole log, known without reading it. */
export interface Facts {
  /** All entries. */
  readonly entries: number;
  readonly messages: number;
  /** How many of the messages are asides; absent for none. */
  readonly asides?: number;
  readonly compactions: number;
  /** When the newest compaction was, ISO 8601; null when there was none. */
  readonly last_compaction: string | null;
  /** The id of the newest entry, 0 when there is none. */
  readonly last: number;
}

export const NO_FACTS: Facts = { entries: 0, messages: 0, compactions: 0, last_compaction: null, last: 0 };

/** The facts after one more entry. */
export function withEntry(facts: Facts, entry: Entry): Facts {
  const compaction = isCompressBlock(entry);
  const asides = (facts.asides ?? 0) + (isMessage(entry) && isAside(entry) ? 1 : 0);
  return {
    entries: facts.entries + 1,
    messages: facts.messages + (isMessage(entry) ? 1 : 0),
    ...(asides > 0 && { asides }),
    compactions: facts.compactions + (compaction ? 1 : 0),
    last_compaction: compaction ? entry.at : facts.last_compaction,
    last: entry.id,
  };
}

/** True for a stored value that is valid. */
export function isFacts(value: unknown): value is Facts {
  if (typeof value !== 'object' || value === null) return false;
  if (!('entries' in value && 'messages' in value && 'compactions' in value && 'last' in value)) return false;
  if (!('last_compaction' in value)) return false;
  const asides = 'asides' in value ? value.asides : 0;
  const counts = [value.entries, value.messages, asides, value.compactions, value.last];
  const when = value.last_compaction;
  return counts.every((count) => Number.isSafeInteger(count)) && (when === null || typeof when === 'string');
}
