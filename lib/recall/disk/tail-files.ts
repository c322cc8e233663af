import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Entry } from '../../chat/entry.js';
import { systemCode } from '../../errors.js';
import { makeFolder } from '../../folder.js';
import { namesIn } from '../../remove-files.js';
import { AsideFile } from '../../write-aside.js';
import type { Collector } from '../index/collector.js';
import { writeDocuments } from './build.js';
import { DamagedSegment } from './pages.js';
import { Segment } from './segment.js';

const NAME = /^tail-(\d+)\.seg$/;

/** Opens the index of the first of these entries, which are not sealed; null if there is none that is about just them. */
export function openTailFile(folder: string, entries: readonly Entry[]): Segment | null {
  let segment: Segment | null = null;
  try {
    segment = Segment.open(join(folder, nameFor(entries)));
    const [about] = segment.pieces;
    const covered = entries.slice(0, about?.size ?? 0);
    if (about !== undefined && covered.length === about.size && sumOf(covered) === about.content) return segment;
  } catch (thrown) {
    if (!(thrown instanceof DamagedSegment || thrown instanceof SyntaxError) && systemCode(thrown) === null)
      throw thrown;
  }
  segment?.close();
  return null;
}

/** How many entries the index of some has. */
export const coveredBy = ({ pieces: [about] }: Segment): number => about?.size ?? 0;

/** Writes the index of entries that are not sealed, with the ids of the documents in it. Throws what the system throws. */
export function writeTailFile(
  folder: string,
  entries: readonly Entry[],
  collector: Collector,
  ids: readonly number[],
): void {
  makeFolder(folder, 0o700);
  const aside = new AsideFile(join(folder, nameFor(entries)), { mode: 0o600 });
  try {
    const about = { offset: entries[0]?.id ?? 0, size: entries.length, content: sumOf(entries), document: 0, spots: 0 };
    const spots = ids.map((id) => ({ id, place: 0 }));
    writeDocuments(collector, spots, { pieces: [about], undone: [] }, aside.descriptor);
    // Not flushed: what a power cut leaves is seen to be damaged, and made again.
    aside.commit(false);
  } catch (thrown) {
    aside.discard();
    throw thrown;
  }
}

/** Removes those that begin before these entries, which are all that are not sealed. */
export function removeTailFiles(folder: string, [first]: readonly Entry[]): void {
  for (const name of namesIn(folder)) {
    const id = Number(NAME.exec(name)?.[1] ?? Number.NaN);
    if (id < (first?.id ?? 0)) rmSync(join(folder, name), { force: true });
  }
}

const nameFor = (entries: readonly Entry[]): string => `tail-${entries[0]?.id ?? 0}.seg`;

/** Ids alone would not do: what is forgotten or was not written leaves them to other words. */
const sumOf = (entries: readonly Entry[]): number => crc32(JSON.stringify(entries));
