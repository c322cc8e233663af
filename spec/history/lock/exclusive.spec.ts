import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runExclusive } from '../../../lib/history/lock/exclusive.js';
import { processName } from '../../../lib/history/lock/holder.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hi-exclusive-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('exclusive work', () => {
  it('runs one after another, even after failures', async () => {
    let running = 0;
    let most = 0;
    const work = async (): Promise<number> => {
      running += 1;
      most = Math.max(most, running);
      await sleep(20);
      running -= 1;
      if (most > 5) throw new Error('too many');
      return most;
    };
    const failing = runExclusive(folder, 'a', async () => Promise.reject(new Error('failed')));
    await expect(failing).rejects.toThrow('failed');
    await Promise.all([1, 2, 3].map(() => runExclusive(folder, 'a', work)));
    expect(most).toBe(1);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('waits neither for other names nor for dead processes', async () => {
    const [host] = processName().split('.');
    writeFileSync(join(folder, `a.lock.${host}.999999999.1`), '');
    writeFileSync(join(folder, `b.lock.${host}.${process.ppid}.0`), '');
    writeFileSync(join(folder, 'a.lock.notes.txt'), '');
    expect(await runExclusive(folder, 'a', async () => 'done')).toBe('done');
    expect(readdirSync(folder).sort()).toEqual(['a.lock.notes.txt', `b.lock.${host}.${process.ppid}.0`]);
  });

  it('waits for a live process', async () => {
    const [host] = processName().split('.');
    const other = join(folder, `a.lock.${host}.${process.ppid}.0`);
    writeFileSync(other, '');
    let isDone = false;
    const waiting = runExclusive(folder, 'a', async () => {
      isDone = true;
    });
    await sleep(150);
    expect(isDone).toBe(false);
    rmSync(other);
    await waiting;
    expect(isDone).toBe(true);
  });
});
