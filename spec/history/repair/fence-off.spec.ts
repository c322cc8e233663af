import {
  chmodSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { historyPathsIn } from '../../../lib/history/base/history-paths.js';
import { loadCodec } from '../../../lib/history/file/codec.js';
import { fenceOff } from '../../../lib/history/repair/repair.js';
import { dataFolder, exchange, fileIn, openIn, printed } from '../../support/history.js';
import { fill, itWithSmallDisk, smallDisk, unmountAll } from '../../support/small-disk.js';

afterEach(unmountAll);

const taken = (folder: string): void => fenceOff(loadCodec(), historyPathsIn(folder));

describe('taking the lock over', () => {
  it('leaves the history and its mode unchanged, and out of reach of what was open or about to be renamed', async () => {
    const folder = dataFolder();
    const said = await exchange(await openIn(folder), 'one', 'two');
    chmodSync(fileIn(folder), 0o640);
    const open = openSync(fileIn(folder), 'r+');
    const ready = join(folder, 'history.new.elsewhere.7.7');
    writeFileSync(ready, 'ready');
    taken(folder);
    writeSync(open, Buffer.alloc(64, 'x'), 0, 64, 0);
    expect(() => renameSync(ready, fileIn(folder))).toThrow('ENOENT');
    expect(JSON.parse(printed(folder))).toEqual(said);
    expect(statSync(fileIn(folder)).mode & 0o777).toBe(0o640);
    expect(readdirSync(folder)).toEqual(['history.json.zst']);
  });

  it('does so behind a link', async () => {
    const folder = dataFolder();
    const said = await exchange(await openIn(folder), 'one', 'two');
    mkdirSync(join(folder, 'synced'));
    const real = join(folder, 'synced', 'conversation.zst');
    renameSync(fileIn(folder), real);
    symlinkSync(real, fileIn(folder));
    const { ino } = statSync(real);
    taken(folder);
    expect(readlinkSync(fileIn(folder))).toBe(real);
    expect(statSync(real).ino).not.toBe(ino);
    expect((await openIn(folder)).entries).toEqual(said);
    expect(readdirSync(join(folder, 'synced'))).toEqual(['conversation.zst']);
  });

  it('does nothing if there is no history', () => {
    const folder = dataFolder();
    taken(folder);
    expect(readdirSync(folder)).toEqual([]);
  });

  itWithSmallDisk('fails on a full disk and leaves no copy', async () => {
    const folder = smallDisk(1024);
    const said = await exchange(await openIn(folder), 'one', 'two');
    fill(folder, 0);
    expect(() => taken(folder)).toThrow('ENOSPC');
    expect(JSON.parse(printed(folder))).toEqual(said);
    expect(readdirSync(folder).sort()).toEqual(['filler', 'history.json.zst']);
  });
});
