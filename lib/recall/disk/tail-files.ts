import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Entry, isMessage } from '../../chat/entry.js';
import { HeldEntries } from '../../chat/entry-list.js';
import { systemCode } from '../../errors.js';
import { namesIn } from '../../remove-files.js';
import type { Archive } from '../index/archive.js';
import type { Collector } from '../index/collector.js';
import { writeDocuments } from './build.js';
import { DamagedSegment } from './pages.js';
import { Segment } from './segment.js';
import { writeIndexFile } from './write-index-file.js';

const NAME = /^tail-(\d+)\.seg$/;

/** Opens the stored index of the first of these unsealed entries; null if there is none, or it is of other ones. */
export function openTailFile(folder: string, entries: readonly Entry[]): Segment | null {
  let segment: Segment | null = null;
  try {
    segment = Segment.open(join(folder, nameFrom(entries[0]?.id ?? 0)));
    if (isOf(segment, entries.slice(0, coveredBy(segment)))) return segment;
  } catch (thrown) {
    if (!(thrown instanceof DamagedSegment || thrown instanceof SyntaxError) && systemCode(thrown) === null)
      throw thrown;
  }
  segment?.close();
  return null;
}

/** Whether it is the index of exactly these entries, by their content, and names only messages among them. */
function isOf(segment: Segment, covered: readonly Entry[]): boolean {
  const { count, sum } = HeldEntries.of(covered);
  if (count === 0 || coveredBy(segment) !== count || segment.pieces.at(0)?.content !== sum) return false;
  const known = new Set(covered.filter(isMessage).map(({ id }) => id));
  const ids = segment.ids();
  return ids.length === segment.count && ids.every((id) => known.has(id));
}

/** The number of entries in the index. */
export const coveredBy = ({ pieces }: Segment): number => pieces.at(0)?.size ?? 0;

/** What a file is the index of: the entries that were indexed, from `first` on, and the messages that are its documents. */
export interface IndexedTail {
  readonly first: number;
  readonly held: HeldEntries;
  readonly ids: readonly number[];
  readonly collector: Collector;
}

/** Writes the index of unsealed entries. False if the conversation has changed. Throws system errors and a `HiError`. */
export async function writeTailFile(
  folder: string,
  { first, held, ids, collector }: IndexedTail,
  archive: Pick<Archive, 'ifCurrent'>,
): Promise<boolean> {
  const about = { offset: first, size: held.count, content: held.sum, document: 0, spots: 0 };
  const spots = ids.map((id) => ({ id, place: 0 }));
  const write = (file: number): void => writeDocuments(collector, spots, { pieces: [about], undone: [] }, file);
  return await writeIndexFile(join(folder, nameFrom(first)), archive, write);
}

/** Whether there are any. */
export const hasTailFiles = (folder: string): boolean => namesIn(folder).some((name) => NAME.test(name));

/** Removes the files that do not begin with one of these entries. */
export function removeOtherTailFiles(folder: string, firsts: readonly number[]): void {
  const kept = new Set(firsts.map(nameFrom));
  for (const name of namesIn(folder))
    if (NAME.test(name) && !kept.has(name)) rmSync(join(folder, name), { force: true });
}

const nameFrom = (first: number): string => `tail-${first}.seg`;
