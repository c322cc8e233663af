import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { HistoryStore } from '../../../lib/history/store.js';
import { archived, dataFolder, exchange, fileIn, openIn, unzstd, zstd } from '../../support/history.js';

let folder: string;
let synced: string;
beforeEach(() => {
  const top = dataFolder();
  folder = join(top, 'data');
  synced = join(top, 'synced');
  mkdirSync(folder);
  mkdirSync(synced);
});

const target = () => join(synced, 'talk.zst');
const isLink = () => lstatSync(fileIn(folder)).isSymbolicLink();

/** A conversation of one turn in a file that two links lead to. */
async function linked(): Promise<HistoryStore> {
  const store = await openIn(folder);
  await exchange(store, 'one', 'two');
  await store.close();
  renameSync(fileIn(folder), target());
  symlinkSync('talk.zst', join(synced, 'second'));
  symlinkSync('../synced/second', fileIn(folder));
  return await openIn(folder);
}

const texts = (path: string): string => unzstd(readFileSync(path)) ?? 'damaged';

describe('a history that is a link', () => {
  it('is followed by appends, and by a reset and its undoing', async () => {
    const store = await linked();
    await exchange(store, 'three', 'four');
    expect(texts(target())).toContain('three');
    await store.reset({ purge: false });
    expect(isLink()).toBe(true);
    expect(readdirSync(synced).sort()).toEqual(['second', 'talk.reset.json.zst']);
    await exchange(store, 'five', 'six');
    expect(texts(target())).toContain('five');
    await store.undoReset();
    expect(await archived(store)).toHaveLength(4);
    expect(texts(target())).toContain('three');
    expect(isLink()).toBe(true);
    expect(readdirSync(folder)).toEqual(['history.json.zst']);
  });

  it('is followed by a file of another layout when the first message is added', async () => {
    const store = await linked();
    await store.close();
    writeFileSync(target(), zstd(Buffer.from(texts(target()))));
    const later = await openIn(folder);
    await exchange(later, 'three', 'four');
    expect(isLink()).toBe(true);
    expect(texts(target())).toMatch(/one.*three/);
    expect(readdirSync(synced).sort()).toEqual(['second', 'talk.zst']);
  });

  it.each(['half of it', 'nothing of it'])('is followed by a repair that can read %s', async (much) => {
    await (await linked()).close();
    const whole = readFileSync(target());
    writeFileSync(target(), much === 'half of it' ? whole.subarray(0, whole.length - 700) : 'nonsense');
    const damaged = readFileSync(target());
    const store = await openIn(folder);
    await exchange(store, 'three', 'four');
    expect(isLink()).toBe(true);
    expect(texts(target())).toContain('three');
    expect(readdirSync(folder).filter((name) => name.includes('damaged'))).toEqual([]);
    const [kept = ''] = readdirSync(synced).filter((name) => name.startsWith('talk.damaged-'));
    expect(readFileSync(join(synced, kept)).equals(damaged)).toBe(true);
    expect(store.totals.files.map((path) => realpathSync(path))).toEqual([target(), join(synced, kept)]);
    expect(store.takeNotices().join(' ')).toContain(`/synced/${kept}'`);
  });

  it('has its damaged copies removed by a purge, and those of earlier versions, and nothing else', async () => {
    await (await linked()).close();
    writeFileSync(target(), 'nonsense');
    const old = join(folder, 'history.damaged-2026-01-01T00-00-00.json.zst');
    writeFileSync(old, 'old');
    for (const name of [
      'talk.damaged-by-me.zst',
      'other.damaged-2026-01-01T00-00-00.json.zst',
      'history.damaged-2026-01-01T00-00-00.json.zst',
    ])
      writeFileSync(join(synced, name), 'mine');
    const store = await openIn(folder);
    expect(store.totals.files).toContain(old);
    await store.reset({ purge: true });
    expect(readdirSync(folder)).toEqual(['history.json.zst']);
    expect(readdirSync(synced).sort()).toEqual([
      'history.damaged-2026-01-01T00-00-00.json.zst',
      'other.damaged-2026-01-01T00-00-00.json.zst',
      'second',
      'talk.damaged-by-me.zst',
      'talk.zst',
    ]);
  });

  it('is emptied by a purge, with the copy next to it, and stays', async () => {
    const store = await linked();
    await store.reset({ purge: false });
    await exchange(store, 'secret', 'four');
    await store.reset({ purge: true });
    expect(isLink()).toBe(true);
    expect(readdirSync(synced).sort()).toEqual(['second', 'talk.zst']);
    expect(texts(target())).toBe('[]');
    expect(store.takeNotices()).toEqual([]);
    await exchange(store, 'three', 'four');
    expect(texts(target())).toContain('three');
  });

  it('is refused if its target does not exist, and not replaced', async () => {
    await (await linked()).close();
    rmSync(target());
    await expect(openIn(folder)).rejects.toMatchObject({
      code: 'history',
      message: expect.stringContaining('which does not exist'),
    });
    expect(isLink()).toBe(true);
    rmSync(synced, { recursive: true });
    await expect(openIn(folder)).rejects.toMatchObject({ code: 'history' });
    expect(readdirSync(folder)).toEqual(['history.json.zst']);
  });

  it('is refused if its target disappears while it is open', async () => {
    const store = await linked();
    renameSync(target(), join(synced, 'away'));
    await expect(exchange(store, 'three', 'four')).rejects.toMatchObject({ code: 'history' });
    renameSync(join(synced, 'away'), target());
    await exchange(store, 'three', 'four');
    expect(texts(target())).toContain('three');
  });

  it('restores a copy that was set aside before it became a link', async () => {
    const store = await openIn(folder);
    await exchange(store, 'first', 'yes');
    await store.reset({ purge: false });
    await (await linked()).undoReset();
    expect(texts(target())).toContain('first');
    expect(readdirSync(folder)).toEqual(['history.json.zst']);
  });
});

describe('a history with a second name', () => {
  it('is written through by appends, and a purge reports the remaining name', async () => {
    const store = await openIn(folder);
    await exchange(store, 'one', 'two');
    linkSync(fileIn(folder), target());
    await exchange(store, 'three', 'four');
    expect(texts(target())).toContain('three');
    await store.reset({ purge: true });
    expect(existsSync(fileIn(folder))).toBe(false);
    expect(store.takeNotices()).toEqual([expect.stringContaining('hard link')]);
  });
});

describe('attachments behind a link', () => {
  it('are followed, and removed by a purge', async () => {
    symlinkSync('../synced', join(folder, 'attachments'));
    const store = await openIn(folder);
    const sha256 = await store.attachments.add(Buffer.from('an image'));
    expect(readdirSync(synced)).toContain(sha256);
    writeFileSync(join(synced, 'mine.txt'), 'mine');
    await store.reset({ purge: true });
    expect(readdirSync(synced)).toEqual(['mine.txt']);
    expect(lstatSync(join(folder, 'attachments')).isSymbolicLink()).toBe(true);
  });

  it('are refused if the target of the link does not exist', async () => {
    symlinkSync('../gone', join(folder, 'attachments'));
    const store = await openIn(folder);
    await expect(store.attachments.add(Buffer.from('an image'))).rejects.toMatchObject({
      code: 'history',
      message: expect.stringContaining('which does not exist'),
    });
  });
});
