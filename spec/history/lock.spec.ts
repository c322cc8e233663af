import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { instance, isAlive } from '../../lib/history/instance.js';
import { locked } from '../../lib/history/lock.js';
import { dataFolder } from '../support/history.js';

const [place, pid, start] = instance().split('.');

describe('the lock', () => {
  it('runs the work, hands back what it made and leaves nothing behind', async () => {
    const folder = dataFolder();
    expect(await locked(folder, () => readdirSync(folder))).toEqual([`history.lock.${instance()}`]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is let go when the work fails', async () => {
    const folder = dataFolder();
    await expect(
      locked(folder, () => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is not held by a process that is gone, nor by one that has the id of a process that is gone', async () => {
    const folder = dataFolder();
    for (const name of [`${place}.999999999.1`, `${place}.${pid}.1`, `${place}.1.7`]) {
      writeFileSync(join(folder, `history.lock.${name}`), '');
    }
    expect(await locked(folder, () => readdirSync(folder))).toEqual([`history.lock.${instance()}`]);
  });

  it('waits while a living process has it', async () => {
    const folder = dataFolder();
    const other = join(folder, `history.lock.${place}.${process.ppid}.0`);
    writeFileSync(other, '');
    const order: string[] = [];
    const work = locked(folder, () => order.push('work'));
    await new Promise((resolve) => setTimeout(resolve, 30));
    order.push('let go');
    rmSync(other);
    await work;
    expect(order).toEqual(['let go', 'work']);
  });

  it('fails where the folder is missing', async () => {
    await expect(locked(join(dataFolder(), 'none'), () => 1)).rejects.toThrow('ENOENT');
  });
});

describe('an instance', () => {
  it('is alive while it runs, by its id and the time it began', () => {
    expect(isAlive(instance(), () => 0)).toBe(true);
    expect(isAlive(`${place}.${pid}.${Number(start) + 1}`, () => 0)).toBe(false);
  });

  it('of another machine is believed for a while', () => {
    expect(isAlive('elsewhere.1.1', () => 500)).toBe(true);
    expect(isAlive('elsewhere.1.1', () => 60_000)).toBe(false);
  });
});
