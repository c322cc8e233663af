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

/** Opens the stored index of the first of these unsealed entries; null if there is none for exactly these. */
export function openTailFile(folder: string, entries: readonly Entry[]): Segment | null {
  let segment: Segment | null = null;
  try {
    segment = Segment.open(join(folder, nameFor(entries)));
    const about = segment.pieces.at(0);
    const covered = entries.slice(0, about?.size ?? 0);
    if (about !== null && covered.length === about.size && sumOf(covered) === about.content) return segment;
  } catch (thrown) {
    if (!(thrown instanceof DamagedSegment || thrown instanceof SyntaxError) && systemCode(thrown) === null)
      throw thrown;
  }
  segment?.close();
  return null;
}

/** The number of entries in the index. */
export const coveredBy = ({ pieces }: Segment): number => pieces.at(0)?.size ?? 0;

/** Writes the index of unsealed entries. Throws system errors. */
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
    // Not flushed: a file damaged by a power cut will be detected and rebuilt.
    aside.commit(false);
  } catch (thrown) {
    aside.discard();
    throw thrown;
  }
}

/** Removes the files that begin before these entries, which are all unsealed ones. */
export function removeTailFiles(folder: string, [first]: readonly Entry[]): void {
  for (const name of namesIn(folder)) {
    const id = Number(NAME.exec(name)?.[1] ?? Number.NaN);
    if (id < (first?.id ?? 0)) rmSync(join(folder, name), { force: true });
  }
}

const nameFor = (entries: readonly Entry[]): string => `tail-${entries[0]?.id ?? 0}.seg`;

/** A checksum of the contents, because after `hi forget` or a failed write the same ids may belong to other messages. */
const sumOf = (entries: readonly Entry[]): number => crc32(JSON.stringify(entries));
