import { writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { listenToProgress } from '../../lib/history/base/notices.js';
import { archived, dataFolder, exchange, fileIn, openIn, says } from '../support/history.js';
import { foreignFile } from '../support/history-files.js';

/** What is told while `work` runs, each piece of work once, with whether it was told in order and to its end. */
async function told(work: () => Promise<unknown>): Promise<readonly string[]> {
  const shares = new Map<string, number[]>();
  listenToProgress((what, done, all) => {
    shares.set(what, [...(shares.get(what) ?? []), all === 0 ? 1 : done / all]);
  });
  await work();
  for (const [what, list] of shares) {
    expect([what, list.every((share) => share >= 0 && share <= 1), list.at(-1)]).toEqual([what, true, 1]);
  }
  return [...shares.keys()];
}

const message = (id: number) => ({
  id,
  turn: id,
  at: '2026-01-01T00:00:00.000Z',
  cwd: '/',
  role: 'user',
  content: [{ type: 'text', text: `message ${id}` }],
  stop_reason: 'end',
});
const MESSAGES = Array.from({ length: 200 }, (_, place) => message(place + 1));

afterEach(() => listenToProgress(null));

describe('long work on the history reports its progress', () => {
  it('while a file of another program is read and converted, and a large one of its own is read', async () => {
    const folder = dataFolder();
    writeFileSync(fileIn(folder), foreignFile(MESSAGES));
    expect(await told(async () => await (await openIn(folder)).close())).toEqual(['Reading the history']);
    const converting = await told(async () => {
      const store = await openIn(folder);
      await exchange(store, 'one more', 'yes');
      expect(await archived(store)).toHaveLength(202);
      await store.close();
    });
    expect(converting).toEqual(['Reading the history', 'Converting the history']);
  });

  it('while a damaged one is checked and saved', async () => {
    const folder = dataFolder();
    const half = foreignFile(MESSAGES.slice(0, 100));
    writeFileSync(fileIn(folder), Buffer.concat([half, half.subarray(0, half.length - 40)]));
    const repairing = await told(async () => {
      const store = await openIn(folder);
      expect(store.length).toBeGreaterThan(0);
      await store.close();
    });
    expect(repairing).toEqual(expect.arrayContaining(['Checking the history', 'Saving what can be read']));
  });

  it('while one is rewritten', async () => {
    const folder = dataFolder();
    const store = await openIn(folder);
    for (let count = 0; count < 5; count += 1) await exchange(store, `question ${count}`, 'x'.repeat(1000));
    const rewriting = await told(async () => await store.forget({ kind: 'text', text: 'question 3' }, () => undefined));
    expect(rewriting).toEqual(['Reading the history', 'Rewriting the history']);
    await store.begin(says('goodbye'));
    await store.close();
  });
});
