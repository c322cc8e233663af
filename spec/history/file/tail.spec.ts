import { readFileSync, rmSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { loadCodec } from '../../../lib/history/file/codec.js';
import { Damaged, type ReadBytes } from '../../../lib/history/file/frames.js';
import { findTail, rowsBefore } from '../../../lib/history/file/tail.js';
import { exchange, fileIn, openIn, quickFolder } from '../../support/history.js';
import { prose } from '../../support/prose.js';

describe('the tail of a history', () => {
  it('that another process truncates while it is read counts as damaged', async () => {
    const folder = quickFolder();
    const store = await openIn(folder);
    for (let turn = 0; turn < 8; turn += 1) await exchange(store, `question ${turn}`, prose(3000, turn));
    await store.close();
    const bytes = readFileSync(fileIn(folder));
    rmSync(folder, { recursive: true });
    const codec = loadCodec();
    const { mutableStart: home } = findTail(
      codec,
      (offset, length) => bytes.subarray(offset, offset + length),
      bytes.length,
    );
    for (let left = 0; left < bytes.length; left += 1) {
      // The file is cut off after the first so many reads.
      for (const whole of [0, 1, 2, 3, 5, 8]) {
        let reads = 0;
        const read: ReadBytes = (offset, length) => {
          reads += 1;
          return bytes.subarray(offset, Math.min(offset + length, reads > whole ? left : bytes.length));
        };
        for (const work of [() => findTail(codec, read, bytes.length), () => rowsBefore(read, bytes.length, home)]) {
          reads = 0;
          try {
            work();
          } catch (thrown) {
            if (!(thrown instanceof Damaged)) throw thrown;
          }
        }
      }
    }
    expect(home).toBeGreaterThan(0);
  });
});
