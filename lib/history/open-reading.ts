import type { Entry } from '../chat/entry.js';
import type { Reading } from './file/reading.js';
import type { HistoryFile } from './history-file.js';

/** A conversation for random access, as it is at one moment. */
type Snapshot = Pick<
  Reading,
  'log' | 'pieces' | 'read' | 'json' | 'readAt' | 'readFrom' | 'rest' | 'restVersion' | 'close'
>;

export interface ConversationReading extends Snapshot {
  /**
   * Runs `work` under the lock if nothing that was read is gone since; else resolves to false. Always false where
   * nothing is written. Throws a `HiError`.
   */
  ifCurrent(work: () => void): Promise<boolean>;
  /**
   * To be called with what a read threw: repairs the conversation if that means damage, so that it can be opened again,
   * and throws it else.
   */
  recover(thrown: unknown): Promise<void>;
}

/** Opens the conversation on disk. `unwritten` are its entries in memory only. Throws `Damaged` and a `HiError`. */
export async function openReading(disk: HistoryFile, unwritten: readonly Entry[]): Promise<Snapshot> {
  const reading = await disk.reading();
  if (reading !== null && unwritten.length === 0) return reading;
  const stored = reading === null ? await everything(disk) : reading.rest();
  const last = Math.max(stored.at(-1)?.id ?? 0, reading?.last ?? 0);
  const rest = [...stored, ...unwritten.filter(({ id }) => id > last)];
  return {
    log: reading?.log ?? '',
    pieces: reading?.pieces ?? [],
    read: (piece) => reading?.read(piece) ?? [],
    json: (piece) => reading?.json(piece) ?? Buffer.alloc(0),
    readAt(piece, place) {
      if (reading === null) throw new Error('Nothing is sealed in this conversation.');
      return reading.readAt(piece, place);
    },
    readFrom: (piece, place) => reading?.readFrom(piece, place) ?? [],
    rest: () => rest,
    restVersion: `${reading?.restVersion}:${rest.length}:${rest.at(-1)?.id}:${rest.at(-1)?.at}`,
    close: () => reading?.close(),
  };
}

/** A file in another layout has no pieces and is read completely. */
async function everything(disk: HistoryFile): Promise<readonly Entry[]> {
  const groups: (readonly Entry[])[] = [];
  for await (const entries of disk.groups()) groups.push(entries);
  return groups.flat();
}
