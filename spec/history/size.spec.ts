import { rmSync, statSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { exchange, fileIn, openIn, printed, quickFolder, zstd } from '../support/history.js';
import { prose } from '../support/prose.js';

describe('the size of a history that grew message by message', () => {
  it('is at most 1.15 times that of one zstd frame, from a hundred messages on', async () => {
    const folder = quickFolder();
    const store = await openIn(folder);
    let worst = 0;
    for (let turn = 0; turn < 400; turn += 1) {
      await exchange(store, prose(400, 2 * turn), prose(400, 2 * turn + 1));
      if (turn < 50 || turn % 5 !== 0) continue;
      worst = Math.max(worst, statSync(fileIn(folder)).size / zstd(Buffer.from(printed(folder))).length);
    }
    await store.close();
    rmSync(folder, { recursive: true });
    expect(worst).toBeLessThan(1.15);
  });
});
