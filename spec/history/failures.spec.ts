import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { answers, dataFolder, exchange, fileIn, openIn, printed, says } from '../support/history.js';
import { asNobody } from '../support/nobody.js';
import { prose } from '../support/prose.js';
import { empty, fill, itWithSmallDisk, smallDisk, unmountAll } from '../support/small-disk.js';

afterEach(unmountAll);

// Many processes and files on what may be a busy machine.
jest.setTimeout(180_000);

describe('a history that cannot be written', () => {
  itWithSmallDisk('because the disk is full says so, is unchanged, and continues when there is space', async () => {
    const folder = smallDisk(1024);
    const said: unknown[] = [];
    let failed = 0;
    for (let free = 0; free < 20; free += 1) {
      const store = await openIn(folder);
      fill(folder, free);
      try {
        const asked = await store.begin(says(`question ${free}`));
        said.push(asked);
        said.push(...(await store.append(asked.id, [answers(prose(60_000, free))])));
      } catch (thrown) {
        failed += 1;
        expect(thrown).toMatchObject({ code: 'history', message: expect.stringContaining(folder) });
      }
      if (said.length > 0) expect(printed(folder) === JSON.stringify(said)).toBe(true);
      empty(folder);
      said.push(...(await exchange(store, 'again', prose(2000, free))));
      expect(printed(folder) === JSON.stringify(said)).toBe(true);
      await store.close();
    }
    expect(failed).toBeGreaterThan(4);
  });

  it('because it is a folder names it', async () => {
    const folder = dataFolder();
    mkdirSync(fileIn(folder));
    await expect(openIn(folder)).rejects.toMatchObject({
      code: 'history',
      message: `'${fileIn(folder)}' is a folder, not a file.`,
    });
  });

  it('because its folder is a file names it', async () => {
    const folder = join(dataFolder(), 'file');
    writeFileSync(folder, '');
    await expect(openIn(folder)).rejects.toMatchObject({
      code: 'history',
      message: `Part of the path of the history '${fileIn(folder)}' is a file, not a folder.`,
    });
  });

  itWithSmallDisk('because the file system is read-only can still be read', async () => {
    const folder = smallDisk(1024);
    const first = await openIn(folder);
    const said = await exchange(first, 'one', 'two');
    await first.close();
    spawnSync('mount', ['-o', 'remount,ro', folder]);
    const store = await openIn(folder);
    expect(store.entries).toEqual(said);
    await expect(store.begin(says('three'))).rejects.toMatchObject({
      code: 'history',
      message: `The history '${fileIn(folder)}' is on a read-only file system.`,
    });
    expect(store.view(null).messages).toEqual(said);
  });

  itWithSmallDisk('because the file system was read-only continues in the same chat when it no longer is', async () => {
    const folder = smallDisk(1024);
    const first = await openIn(folder);
    const said = await exchange(first, 'one', 'two');
    await first.close();
    spawnSync('mount', ['-o', 'remount,ro', folder]);
    const store = await openIn(folder);
    await expect(store.begin(says('three'))).rejects.toMatchObject({ message: expect.stringContaining('read-only') });
    spawnSync('mount', ['-o', 'remount,rw', folder]);
    const more = await exchange(store, 'three', 'four');
    expect(store.view(null).messages).toEqual([...said, ...more]);
    expect(JSON.parse(printed(folder))).toEqual([...said, ...more]);
    await store.close();
  });

  itWithSmallDisk('because it is damaged on a read-only file system shows what can be read', async () => {
    const folder = smallDisk(1024);
    const first = await openIn(folder);
    const said = await exchange(first, 'one', 'two');
    await first.close();
    spawnSync('truncate', ['-s', '-100', fileIn(folder)]);
    spawnSync('mount', ['-o', 'remount,ro', folder]);
    const store = await openIn(folder);
    expect(store.entries).toEqual(said);
    expect(store.takeNotices()).toEqual([expect.stringContaining('cannot be repaired')]);
  });

  it('for lack of permission says so', async () => {
    const folder = dataFolder();
    const said = await exchange(await openIn(folder), 'one', 'two');
    chmodSync(fileIn(folder), 0o444);
    chmodSync(folder, 0o555);
    await asNobody(async () => {
      const store = await openIn(folder);
      expect(store.entries).toEqual(said);
      await expect(store.begin(says('three'))).rejects.toMatchObject({
        code: 'history',
        message: `Permission denied for the history '${fileIn(folder)}'.`,
      });
    });
    chmodSync(folder, 0o000);
    await asNobody(async () => {
      await expect(openIn(folder)).rejects.toMatchObject({ code: 'history', message: expect.stringContaining(folder) });
    });
  });

  it('for lack of permission for the file alone says so, and continues in the same chat when it is granted', async () => {
    const folder = dataFolder();
    const said = await exchange(await openIn(folder), 'one', 'two');
    chmodSync(fileIn(folder), 0o444);
    chmodSync(folder, 0o777);
    const store = await asNobody(async () => {
      const opened = await openIn(folder);
      expect(opened.entries).toEqual(said);
      await expect(opened.begin(says('three'))).rejects.toMatchObject({
        code: 'history',
        message: `Permission denied for the history '${fileIn(folder)}'.`,
      });
      return opened;
    });
    chmodSync(fileIn(folder), 0o666);
    await asNobody(async () => {
      expect(store.view(null).messages).toEqual(said);
      expect(await exchange(store, 'three', 'four')).toHaveLength(2);
    });
  });
});
