import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { entriesOfArray } from './array.js';
import { hashesIn } from './attachments.js';
import { readAt, reader, sizeOf } from './bytes.js';
import { Damaged } from './damaged.js';
import { type Facts, NO_FACTS, withEntry } from './facts.js';
import { type Codec, loadCodec } from './frames.js';
import type { Read } from './headers.js';
import { BRACKET, OPENING } from './layout.js';
import type { Paths } from './paths.js';
import { findTail, rowsBefore } from './tail.js';

/** What a check found. */
export interface Verified {
  readonly entries: number;
  readonly problems: readonly string[];
}

/** Reads the whole history and compares everything that is stored twice; changes nothing. Throws what the system throws. */
export async function verify(paths: Paths): Promise<Verified> {
  if (!existsSync(paths.history)) return { entries: 0, problems: [] };
  const codec = loadCodec();
  const file = openSync(paths.history, 'r');
  try {
    const problems: string[] = [];
    const read = reader(file, 64 * 1024);
    const facts = readAll(codec, read, sizeOf(file), paths, problems);
    if (readAt(file, 0, BRACKET).equals(OPENING)) compare(codec, read, sizeOf(file), facts, problems);
    return { entries: facts.entries, problems };
  } finally {
    closeSync(file);
  }
}

function readAll(codec: Codec, read: Read, size: number, paths: Paths, problems: string[]): Facts {
  let facts = NO_FACTS;
  const missing = new Set<string>();
  try {
    for (const entries of entriesOfArray(codec, read, size)) {
      for (const entry of entries) {
        facts = withEntry(facts, entry);
        for (const hash of hashesIn(entry)) if (!isThere(paths, hash)) missing.add(hash);
      }
    }
  } catch (thrown) {
    if (!(thrown instanceof Damaged)) throw thrown;
    problems.push(thrown.message);
  }
  for (const hash of missing) problems.push(`The attachment '${hash}' is missing.`);
  return facts;
}

/** What the record and the seek table say against what is in the file. */
function compare(codec: Codec, read: Read, size: number, facts: Facts, problems: string[]): void {
  try {
    const tail = findTail(codec, read, size);
    const told = rowsBefore(read, size, tail.home);
    const walked = rowsBefore(read, 0, tail.home);
    if (JSON.stringify(told) !== JSON.stringify(walked)) problems.push('The seek table does not fit the frames.');
    if (tail.record.facts.last > facts.last || tail.record.facts.entries > facts.entries) {
      problems.push('The record knows of entries that are not there.');
    }
  } catch (thrown) {
    if (!(thrown instanceof Damaged)) throw thrown;
    problems.push(thrown.message);
  }
}

function isThere({ attachments, asideAttachments }: Paths, hash: string): boolean {
  return existsSync(join(attachments, hash)) || existsSync(join(asideAttachments, hash));
}
