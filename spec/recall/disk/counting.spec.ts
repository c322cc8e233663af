import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Message } from '../../../lib/chat/message.js';
import { IndexFolder } from '../../../lib/recall/disk/index-folder.js';
import type { Archive } from '../../../lib/recall/index/documents.js';
import { BEYOND } from '../../../lib/recall/index/part.js';
import { words } from '../../../lib/recall/words/words.js';

const WORDS = ['apple', 'äpfel', 'berry', 'getUserName', '数据库', 'v2.1', 'книга', 'ß', '😀', 'the', 'quokka'];

/** A conversation in memory whose pieces hold these texts. */
function archiveOf(pieces: readonly (readonly string[])[]): Archive {
  let id = 0;
  const messages = pieces.map((texts) =>
    texts.map((text): Message => {
      id += 1;
      return { id, turn: id, at: '2026-11-22T10:00:00Z', role: 'user', cwd: '/', content: [{ type: 'text', text }] };
    }),
  );
  const placed = messages.map((list) => list.map((entry, index) => ({ entry, place: index * 100 })));
  const found = (offset: number) => placed[offset] ?? [];
  return {
    log: 'counted',
    pieces: pieces.map((texts, offset) => ({ offset, size: 1, content: texts.join('').length })),
    read: ({ offset }) => found(offset),
    readAt({ offset }, place) {
      const entry = found(offset)[place / 100]?.entry;
      if (entry === undefined) throw new Error(`Nothing is at ${place}.`);
      return entry;
    },
    json: () => Buffer.alloc(0),
    readFrom: ({ offset }, place) => found(offset).slice(place / 100),
    restVersion: '',
    rest: () => [],
    async ifCurrent(work) {
      work();
      return true;
    },
    async recover(thrown) {
      throw thrown;
    },
    close: () => {},
  };
}

/** In how many documents of the index each word is, by the number of the document. */
function indexed(folder: IndexFolder): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  let start = 0;
  for (const segment of folder.segments) {
    for (const { word, postings } of segment.words()) {
      const name = Buffer.from(word, 'latin1').toString();
      const list = found.get(name) ?? [];
      for (const part of postings.lists()) {
        const count = part.readBelow(BEYOND);
        const { first } = part;
        for (const document of part.documents.subarray(first, first + count)) list.push(start + document);
      }
      found.set(
        name,
        list.sort((one, other) => one - other),
      );
    }
    start += segment.count;
  }
  return found;
}

function counted(texts: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  texts.forEach((text, document) => {
    for (const word of new Set(words(text))) found.set(word, [...(found.get(word) ?? []), document]);
  });
  return found;
}

/** The ids of the messages that the index leads to, in the order of its documents. */
function ledTo(folder: IndexFolder, archive: Archive): readonly (number | undefined)[] {
  return folder.segments.flatMap((segment) => {
    return Array.from({ length: segment.count }, (_, document) => {
      const spot = segment.spot(document);
      return spot === null ? undefined : archive.readAt(spot.piece, spot.place).id;
    });
  });
}

const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 }).map((list) => list.join(' '));

describe('the index', () => {
  it('contains for each word the messages that plain counting finds, whatever the order of indexing', async () => {
    const pieces = fc.array(fc.array(text, { maxLength: 5 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(pieces, fc.infiniteStream(fc.nat()), async (all, order) => {
        const root = mkdtempSync(join(tmpdir(), 'hi-counting-'));
        const archive = archiveOf(all);
        const folder = new IndexFolder(root, archive.log);
        try {
          for (;;) {
            const missing = folder.missing(archive.pieces);
            const next = missing[(order.next().value ?? 0) % missing.length];
            if (next === undefined) break;
            await folder.add(archive, next, (order.next().value ?? 0) % 2 === 0);
          }
          const expected = counted(all.flat());
          expect(indexed(folder)).toEqual(expected);
          expect(ledTo(folder, archive)).toEqual(all.flat().map((_, index) => index + 1));
          for (const segment of folder.segments) expect(segment.spot(segment.count)).toBeNull();
          for (const word of expected.keys()) {
            const documents = folder.segments.reduce((sum, segment) => sum + (segment.find(word)?.count ?? 0), 0);
            expect([word, documents]).toEqual([word, expected.get(word)?.length]);
          }
          expect(folder.segments.every((segment) => segment.isSound())).toBe(true);
        } finally {
          folder.close();
          rmSync(root, { recursive: true });
        }
      }),
      { numRuns: 25 },
    );
  });
});
