import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PackedPostings, PostingsPacker, SLACK } from '../../../lib/recall/disk/packed-postings.js';
import { Arena, BEYOND, FrequencyLists, type Postings } from '../../../lib/recall/index/part.js';

type Document = readonly [document: number, code: number];

function listsOf(documents: readonly Document[]): FrequencyLists {
  const lists = new FrequencyLists();
  for (const [document, code] of documents) lists.add(document, code);
  return lists;
}

function documentsOf(postings: Postings): readonly Document[] {
  const found: Document[] = [];
  for (const list of postings.lists(new Arena())) {
    // In steps, as a search does.
    for (let limit = 5; ; limit = Math.min(3 * limit, BEYOND)) {
      const count = list.readBelow(limit);
      const { first } = list;
      for (const document of list.documents.subarray(first, first + count)) found.push([document, list.code]);
      if (limit === BEYOND) break;
    }
  }
  return found.sort(([one], [other]) => one - other);
}

/** Packs and unpacks, with other bytes before and behind. */
function unpacked(packer: PostingsPacker, documents: readonly Document[]): readonly Document[] {
  const bytes = Buffer.concat([Buffer.alloc(3, 0xa5), packer.pack(listsOf(documents)), Buffer.alloc(SLACK, 0xa5)]);
  return documentsOf(new PackedPostings(documents.length, bytes, 3));
}

const code = fc.constantFrom(0, 0, 0, 0, 1, 2, 3);
const step = fc.oneof(
  { weight: 8, arbitrary: fc.nat(3) },
  { weight: 4, arbitrary: fc.nat(300) },
  { weight: 1, arbitrary: fc.nat(10_000_000) },
);

describe('packed postings', () => {
  it('are the documents that were packed, near and far, with the number of occurrences in each', () => {
    const packer = new PostingsPacker();
    const steps = fc.array(fc.tuple(step, code), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(steps, (all) => {
        let last = -1;
        const documents = all.map(([more, often]): Document => {
          last += more + 1;
          return [last, often];
        });
        expect(unpacked(packer, documents)).toEqual(documents);
      }),
    );
  });

  it.each([1, 3, 4, 5, 1000])('are small for %d consecutive documents', (count) => {
    const packer = new PostingsPacker();
    const documents = Array.from({ length: count }, (_, index): Document => [index, 0]);
    expect(packer.pack(listsOf(documents)).length).toBeLessThanOrEqual(3 + Math.ceil(count / 8));
    expect(unpacked(packer, documents)).toEqual(documents);
  });

  it('take as much room as their distances', () => {
    const documents = Array.from({ length: 4096 }, (_, index): Document => [64 * index + ((index * 31) % 64), 0]);
    expect(new PostingsPacker().pack(listsOf(documents)).length / documents.length).toBeLessThan(1);
  });
});
