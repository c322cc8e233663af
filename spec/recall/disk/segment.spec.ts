import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { writeDocuments } from '../../../lib/recall/disk/build.js';
import { DamagedSegment, packSpots } from '../../../lib/recall/disk/pages.js';
import { Segment } from '../../../lib/recall/disk/segment.js';
import { Collector } from '../../../lib/recall/index/collector.js';

/** Behind the footer: its length, its checksum and the magic word. */
const ENDING = 16;

/** The segment without the number of its words. */
function withoutWords(bytes: Buffer): Buffer {
  const ending = bytes.length - ENDING;
  const start = ending - bytes.readUInt32LE(ending);
  const { words, ...footer }: Readonly<Record<string, unknown>> = JSON.parse(bytes.toString('utf8', start, ending));
  expect(words).toBeGreaterThan(0);
  const text = Buffer.from(JSON.stringify(footer));
  const end = Buffer.from(bytes.subarray(ending));
  end.writeUInt32LE(text.length, 0);
  end.writeUInt32LE(crc32(text), 4);
  return Buffer.concat([bytes.subarray(0, start), text, end]);
}

describe('a segment', () => {
  it('has as many words as were collected, and is of another version if its footer does not say', () => {
    const collector = new Collector();
    for (const text of ['espresso', 'espresso machine in Lisbon', 'bread '.repeat(300), '…']) {
      collector.add({ kind: 'user', day: 0, text });
    }
    const folder = mkdtempSync(join(tmpdir(), 'hi-segment-'));
    try {
      const path = join(folder, 'segment');
      const file = openSync(path, 'w');
      const spots = Array.from({ length: collector.count }, (_, index) => ({ id: index + 1, place: index }));
      const piece = { offset: 0, size: 1, content: 1, document: 0, spots: 0 };
      writeDocuments(collector, packSpots(spots), { pieces: [piece], undone: [] }, file);
      closeSync(file);
      const segment = Segment.open(path);
      try {
        expect(segment.wordCount()).toBe(collector.wordCount());
      } finally {
        segment.close();
      }
      writeFileSync(path, withoutWords(readFileSync(path)));
      expect(() => Segment.open(path)).toThrow(new DamagedSegment('The segment has another version.'));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
