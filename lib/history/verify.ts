import { closeSync, existsSync, openSync } from 'node:fs';
import { requireRegularFile } from '../disk.js';
import { attachmentName, attachmentsIn, readAttachment } from './attachments.js';
import type { HistoryPaths } from './base/history-paths.js';
import { bufferedReader, type Codec, fileSize, loadCodec, readAt } from './file/codec.js';
import { Damaged, type ReadBytes } from './file/frames.js';
import { BRACKET_SIZE, type Facts, NO_FACTS, OPENING, withEntry } from './file/layout.js';
import { findTail, rowsBefore } from './file/tail.js';
import { entriesOfArray } from './file/whole-log.js';

/** The result of a check. */
export interface Verified {
  readonly entries: number;
  readonly problems: readonly string[];
  /** The missing or altered attachments, by the names that the user knows; absent if there are none. */
  readonly lost?: readonly string[];
}

/** Reads the whole history and compares everything that is stored twice; changes nothing. Throws system errors. */
export async function verify(paths: HistoryPaths): Promise<Verified> {
  if (!existsSync(paths.history)) return { entries: 0, problems: [] };
  requireRegularFile(paths.history);
  const codec = loadCodec();
  const file = openSync(paths.history, 'r');
  try {
    const problems: string[] = [];
    const read = bufferedReader(file, 64 * 1024);
    const attachments = new Map<string, string>();
    const facts = readAll(codec, read, fileSize(file), attachments, problems);
    if (readAt(file, 0, BRACKET_SIZE).equals(OPENING)) compare(codec, read, fileSize(file), facts, problems);
    const lost = [...attachments].filter(([hash]) => readAttachment(paths, hash) === null).map(([, name]) => name);
    return { entries: facts.entries, problems, ...(lost.length > 0 ? { lost } : {}) };
  } finally {
    closeSync(file);
  }
}

function readAll(
  codec: Codec,
  read: ReadBytes,
  size: number,
  attachments: Map<string, string>,
  problems: string[],
): Facts {
  let facts = NO_FACTS;
  try {
    for (const entries of entriesOfArray(codec, read, size)) {
      for (const entry of entries) {
        facts = withEntry(facts, entry);
        for (const part of attachmentsIn(entry)) attachments.set(part.sha256, attachmentName(part));
      }
    }
  } catch (thrown) {
    if (!(thrown instanceof Damaged)) throw thrown;
    problems.push(thrown.message);
  }
  return facts;
}

/** Compares the record and the seek table with the frames. */
function compare(codec: Codec, read: ReadBytes, size: number, facts: Facts, problems: string[]): void {
  try {
    const tail = findTail(codec, read, size);
    const recorded = rowsBefore(read, size, tail.mutableStart);
    const walked = rowsBefore(read, 0, tail.mutableStart);
    if (JSON.stringify(recorded) !== JSON.stringify(walked)) problems.push('The seek table does not match the frames.');
    if (tail.record.facts.last > facts.last || tail.record.facts.entries > facts.entries) {
      problems.push('The record counts entries that are missing.');
    }
  } catch (thrown) {
    if (!(thrown instanceof Damaged)) throw thrown;
    problems.push(thrown.message);
  }
}
