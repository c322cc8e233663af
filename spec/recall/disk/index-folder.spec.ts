import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { namesIn, removeFiles } from '../../../lib/disk.js';
import { removeIndex } from '../../../lib/recall/disk/index-folder.js';
import type { Archive } from '../../../lib/recall/index/documents.js';
import { Recall } from '../../../lib/recall/recall.js';
import { bundle } from '../../support/bundle.js';
import { exchange, openIn, quickFolder } from '../../support/history.js';
import { flip, foundIn, indexFiles, indexHashes, longHistory, recallIn, searchFor } from '../../support/recall.js';

const PIECES = 9;

let copy: () => string;
/** A copy with its index. */
let indexed: () => string;
let program: string;
let fresh: readonly (readonly number[])[];
let files: ReturnType<typeof indexFiles>;
let hashes: ReturnType<typeof indexHashes>;

beforeAll(async () => {
  copy = await longHistory(PIECES);
  program = await bundle('spec/recall/disk/killed-builder.ts');
  const folder = copy();
  fresh = await foundIn(folder);
  indexed = () => {
    const other = quickFolder();
    cpSync(folder, other, { recursive: true });
    return other;
  };
  files = indexFiles(folder);
  hashes = indexHashes(folder);
});

describe('the index on disk', () => {
  it('finds words in sealed and in unsealed messages', () => {
    expect(fresh.every((ids) => ids.length > 0)).toBe(true);
    expect(new Set(fresh.flat()).size).toBeGreaterThan(10);
  });

  it('has one segment for eight pieces, and one for each of the rest', () => {
    const names = files.map(([path]) => path.split('/').at(-1));
    expect(names).toContain('0-1.seg');
    const others = names.filter((name) => !/^tail-\d+\.seg$/.test(name ?? ''));
    expect(names.filter((name) => name?.endsWith('-0.seg')).length).toBe(others.length - 1);
  });

  it('finds the same and has the same bytes after a kill at any change of a file', async () => {
    const counting = spawnSync(process.execPath, [program, copy(), '0'], { encoding: 'utf8' });
    const changes = Number(counting.stdout);
    expect(changes).toBeGreaterThan(PIECES);
    const step = process.env.HI_EVERY_CUT === '1' ? 1 : Math.ceil(changes / 2);
    for (let kill = 1; kill <= changes; kill += step) {
      const folder = copy();
      expect(spawnSync(process.execPath, [program, folder, String(kill)]).signal).toBe('SIGKILL');
      expect(await foundIn(folder)).toEqual(fresh);
      expect(indexHashes(folder)).toEqual(hashes);
    }
  }, 300_000);

  it('finds the same and has the same bytes if two processes build it at once', async () => {
    const folder = copy();
    const both = [0, 1].map(() => spawn(process.execPath, [program, folder, '0'], { stdio: 'ignore' }));
    const codes = await Promise.all(both.map(async (child) => (await once(child, 'exit'))[0]));
    expect(codes).toEqual([0, 0]);
    expect(await foundIn(folder)).toEqual(fresh);
    expect(indexHashes(folder)).toEqual(hashes);
  });

  it('is rebuilt if it is deleted, truncated, or has a wrong byte anywhere', async () => {
    const folder = indexed();
    const [merged] = files.flatMap(([path]) => (path.endsWith('-1.seg') ? [folder + path] : []));
    const [path = '', bytes = Buffer.alloc(0)] = files.find(([name]) => name.endsWith('-0.seg')) ?? [];
    const last = process.env.HI_EVERY_CUT === '1' ? 11 : 2;
    const places = Array.from({ length: last + 1 }, (_, index) => Math.floor((index * (bytes.length - 1)) / last));
    const harms = [
      () => rmSync(join(folder, 'recall'), { recursive: true }),
      () => flip(merged ?? '', 5000),
      () => rmSync(folder + path),
      () => truncateSync(folder + path, Math.floor(bytes.length / 2)),
      () => truncateSync(folder + path, 0),
      ...places.map((place) => () => flip(folder + path, place)),
    ];
    for (const harm of harms) {
      harm();
      expect(await foundIn(folder)).toEqual(fresh);
    }
  }, 120_000);

  it('removes the segments of a conversation that was reset', async () => {
    const folder = indexed();
    expect(readdirSync(join(folder, 'recall'))).not.toEqual([]);
    const store = await openIn(folder);
    await store.reset({ purge: false });
    await exchange(store, 'a quokka', 'another conversation');
    const recall = recallIn(folder, store);
    expect((await recall.search(searchFor('quokka zeppelin'))).hits.map(({ message }) => message.id)).toEqual([1, 2]);
    expect(readdirSync(join(folder, 'recall'))).toEqual([]);
    await store.close();
  });

  it('leaves foreign files alone', async () => {
    const folder = (await longHistory(1))();
    mkdirSync(join(folder, 'recall', 'mine'), { recursive: true });
    writeFileSync(join(folder, 'recall', 'mine', 'notes.txt'), 'x');
    await foundIn(folder);
    expect(existsSync(join(folder, 'recall', 'mine', 'notes.txt'))).toBe(true);
  });

  it.each<readonly [string, (folder: string) => Promise<void>]>([
    ['something is forgotten', forgetSome],
    ['an unfinished file of it is removed', async (folder) => removeUnfinished(join(folder, 'recall'))],
    ['all of it is removed', async (folder) => rmSync(join(folder, 'recall'), { recursive: true, force: true })],
  ])('is complete if %s right after the conversation was opened, or while it is built', async (_, change) => {
    const short = await longHistory(1);
    for (const before of [0, 1]) {
      const folder = short();
      const store = await openIn(folder);
      let calls = 0;
      const changed = async (): Promise<void> => {
        calls += 1;
        if (calls === before + 1) await change(folder);
      };
      const reading = async (): Promise<Archive> => {
        const archive = await store.reading();
        const { ifCurrent } = archive;
        if (before === 0) await changed();
        return Object.assign(archive, {
          async ifCurrent(work: () => void) {
            await changed();
            return await ifCurrent(work);
          },
        });
      };
      const history = { reading, undisturbed: async <Result>(work: () => Promise<Result>) => await work() };
      const recall = new Recall({ folder: join(folder, 'recall'), history, writes: true });
      const { hits, unsearched } = await recall.search(searchFor('quokka', { count: 1 }));
      expect([before, unsearched, hits.length]).toEqual([before, 0, 1]);
      expect(calls).toBeGreaterThan(before);
      recall.close();
      await store.close();
    }
  });

  it('is complete though something is forgotten each time while it is built: at last nothing may be', async () => {
    const folder = (await longHistory(3))();
    const store = await openIn(folder);
    let [isHeld, forgotten] = [false, 0];
    const reading = async (): Promise<Archive> => {
      const archive = await store.reading();
      const { ifCurrent } = archive;
      return Object.assign(archive, {
        async ifCurrent(work: () => void) {
          if (!isHeld) await forgetSome(folder, 2 + forgotten++);
          return await ifCurrent(work);
        },
      });
    };
    const undisturbed = async <Result>(work: () => Promise<Result>): Promise<Result> => {
      isHeld = true;
      return await store.undisturbed(work);
    };
    const recall = new Recall({ folder: join(folder, 'recall'), history: { reading, undisturbed }, writes: true });
    const { hits, unsearched } = await recall.search(searchFor('quokka', { count: 1 }));
    expect([unsearched, hits.length, forgotten]).toEqual([0, 1, 3]);
    recall.close();
    await store.close();
  });

  it.each([true, false])(
    'is complete though the conversation is damaged, which is repaired or read as far as it can be (writing: %s)',
    async (writes) => {
      const folder = (await longHistory(1))();
      flip(join(folder, 'history.json.zst'), 5000);
      const store = await openIn(folder, { ephemeral: !writes });
      const recall = recallIn(folder, store, writes);
      expect((await recall.search(searchFor('"And the lagoon?"'))).hits).toMatchObject([{ text: 'And the lagoon?' }]);
      expect(await recall.search(searchFor('question'))).toMatchObject({ unsearched: 0 });
      expect(store.takeNotices()).toContainEqual(expect.stringContaining('damaged'));
      recall.close();
      await store.close();
    },
  );

  it('is read anew, and stays, if another process forgot something and rebuilt it', async () => {
    const folder = (await longHistory(2))();
    const [store, other] = [await openIn(folder), await openIn(folder)];
    const [recall, rebuilding] = [recallIn(folder, store), recallIn(folder, other)];
    await recall.search(searchFor('quokka'));
    await forgetSome(folder);
    await rebuilding.search(searchFor('quokka'));
    const rebuilt = indexHashes(folder);
    expect((await recall.search(searchFor('quokka'))).hits.map(({ message }) => message.id)).not.toContain(2);
    expect(indexHashes(folder)).toEqual(rebuilt);
    for (const one of [recall, rebuilding]) one.close();
    for (const one of [store, other]) await one.close();
  });

  it('is rebuilt whole though a search with an older view removes a file of it meanwhile', async () => {
    const short = await longHistory(3);
    const folder = short();
    const store = await openIn(folder);
    // Every step ends after one piece.
    let seconds = process.uptime();
    const clock = jest.spyOn(process, 'uptime').mockImplementation(() => {
      seconds += 1;
      return seconds;
    });
    let removals = 3;
    const onIndexed = (): void => {
      const [newest] = indexFiles(folder);
      if (newest !== undefined && removals > 0) rmSync(folder + newest[0]);
      removals -= 1;
    };
    const recall = new Recall({ folder: join(folder, 'recall'), history: store, writes: true, onIndexed });
    expect(await recall.rebuild(new AbortController().signal)).toBeGreaterThanOrEqual(3);
    clock.mockRestore();
    recall.close();
    await store.close();
    expect(await foundIn(folder)).toEqual(await foundIn(short()));
  });

  it('is completed in steps, as long as each adds something', async () => {
    const store = await openIn(copy());
    const stepsWith = async (lefts: readonly number[]): Promise<readonly number[]> => {
      const ahead = [...lefts];
      class Slow extends Recall {
        override catchUp = async (): Promise<number> => ahead.shift() ?? 0;
      }
      const steps: number[] = [];
      const recall = new Slow({ folder: '', history: store, writes: true });
      for await (const left of recall.indexAll(new AbortController().signal)) steps.push(left);
      return steps;
    };
    expect([await stepsWith([0]), await stepsWith([9, 4, 0, 7]), await stepsWith([9, 4, 4, 7])]).toEqual([
      [],
      [9, 4],
      [9, 4],
    ]);
    await store.close();
  });

  it('is not written if nothing may be written', async () => {
    const folder = copy();
    const found = await foundIn(folder, false);
    expect(existsSync(join(folder, 'recall'))).toBe(false);
    expect(found.flat().length).toBeGreaterThan(0);
  });
});

/** What another hi does. */
async function forgetSome(folder: string, id = 2): Promise<void> {
  const other = await openIn(folder);
  await other.forget({ kind: 'messages', ids: [id] }, () => removeIndex(join(folder, 'recall')));
  await other.close();
}

function removeUnfinished(root: string): void {
  for (const name of namesIn(root)) removeFiles(join(root, name), /\.new$/);
}
