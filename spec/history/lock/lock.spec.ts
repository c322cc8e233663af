import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { assertLockHeld, LockLost, livenessOf, processName } from '../../../lib/history/lock/holder.js';
import { runLocked } from '../../../lib/history/lock/lock.js';
import { dataFolder } from '../../support/history.js';

const [place, pid, start] = processName().split('.');

const nothing = (): void => {};
const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Runs `work` under the lock; what it made. */
const under = async <Result>(folder: string, work: () => Result): Promise<Result> =>
  (await runLocked(folder, nothing, work)).result;

/** The wish of a process elsewhere, made at `time` by its own clock. */
function foreign(folder: string, time: Date): string {
  const path = join(folder, 'history.lock.elsewhere.1.1');
  writeFileSync(path, '');
  utimesSync(path, time, time);
  return path;
}

const HOUR = 3_600_000;

/** How much faster the clock goes by which the lock counts how long others are silent. */
const SPEED = 60;
const uptime = process.uptime.bind(process);
beforeEach(() => {
  process.uptime = () => SPEED * uptime();
});
afterEach(() => {
  process.uptime = uptime;
});

describe('the lock', () => {
  it('runs the work, returns its result and leaves nothing behind', async () => {
    const folder = dataFolder();
    expect(await runLocked(folder, nothing, () => readdirSync(folder))).toEqual({
      result: [`history.lock.${processName()}`],
      kept: true,
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is released if the work fails', async () => {
    const folder = dataFolder();
    const failing = under(folder, () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is not held by a dead process, nor by one that has the id of a dead process', async () => {
    const folder = dataFolder();
    for (const name of [`${place}.999999999.1`, `${place}.${pid}.1`, `${place}.1.7`]) {
      writeFileSync(join(folder, `history.lock.${name}`), '');
    }
    expect(await under(folder, () => readdirSync(folder))).toEqual([`history.lock.${processName()}`]);
  });

  it('waits while a live process has it', async () => {
    const folder = dataFolder();
    const other = join(folder, `history.lock.${place}.${process.ppid}.0`);
    writeFileSync(other, '');
    const order: string[] = [];
    const work = under(folder, () => order.push('work'));
    await pause(30);
    order.push('let go');
    rmSync(other);
    await work;
    expect(order).toEqual(['let go', 'work']);
  });

  it('is not waited for forever: a live process that does not respond is named', async () => {
    const folder = dataFolder();
    const name = `history.lock.${place}.${process.ppid}.0`;
    writeFileSync(join(folder, name), '');
    await expect(under(folder, nothing)).rejects.toMatchObject({
      code: 'history',
      message: `The history in '${folder}' is locked by process ${process.ppid}, which does not respond.`,
      hint: `If that is a suspended hi, resume or end it. If it is gone, remove '${join(folder, name)}'.`,
    });
    expect(readdirSync(folder)).toEqual([name]);
  });

  it('fails if the folder is missing', async () => {
    await expect(under(join(dataFolder(), 'none'), () => 1)).rejects.toThrow('ENOENT');
  });
});

describe('the lock of a process elsewhere', () => {
  it('is waited for while it is renewed, even by a clock that is far behind', async () => {
    const folder = dataFolder();
    const path = foreign(folder, new Date(Date.now() - HOUR));
    const order: string[] = [];
    const work = under(folder, () => order.push('work'));
    for (let count = 1; count < 15; count += 1) {
      await pause(100);
      const time = new Date(Date.now() - HOUR + count);
      utimesSync(path, time, time);
    }
    order.push('let go');
    rmSync(path);
    await work;
    expect(order).toEqual(['let go', 'work']);
  });

  it.each([
    ['an hour ago', -HOUR],
    ['in an hour', HOUR],
  ])('is taken if it is never renewed, and was made %s; its open files are fenced off first', async (_, off) => {
    const folder = dataFolder();
    const path = foreign(folder, new Date(Date.now() + off));
    const order: string[] = [];
    await runLocked(
      folder,
      () =>
        order.push(`take over from ${readdirSync(folder).filter((name) => name.startsWith('history.lost.')).length}`),
      () => order.push('work'),
    );
    expect(order).toEqual(['take over from 1', 'work']);
    expect([existsSync(path), readdirSync(folder)]).toEqual([false, []]);
  });
});

describe('a process that lost the lock', () => {
  const steal = (folder: string): void => rmSync(join(folder, `history.lock.${processName()}`));

  it('finds out before it writes', async () => {
    const folder = dataFolder();
    const order: string[] = [];
    const work = under(folder, () => {
      steal(folder);
      assertLockHeld();
      order.push('written');
    });
    await expect(work).rejects.toThrow(LockLost);
    expect(order).toEqual([]);
  });

  it('finds out after it wrote', async () => {
    const folder = dataFolder();
    expect(await runLocked(folder, nothing, () => steal(folder))).toEqual({ result: undefined, kept: false });
  });
});

describe('a process', () => {
  it('is identified while it runs by its id and start time', () => {
    expect(livenessOf(processName())).toBe('alive');
    expect(livenessOf(`${place}.${pid}.${Number(start) + 1}`)).toBe('gone');
  });

  it('on another machine cannot be checked', () => {
    expect(livenessOf('elsewhere.1.1')).toBe('elsewhere');
  });
});
