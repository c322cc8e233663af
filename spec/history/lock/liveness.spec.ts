import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { HiError } from '../../../lib/errors.js';
import {
  assertLockHeld,
  bootId,
  Claim,
  fingerprintOf,
  heartbeat,
  LockLost,
  livenessOf,
  processName,
  runAsHolder,
  touch,
  unchangedFor,
} from '../../../lib/history/lock/holder.js';
import { LivenessWatch, runLocked, withLock } from '../../../lib/history/lock/lock.js';
import { quickFolder } from '../../support/history.js';

let folder: string;
beforeEach(() => {
  folder = quickFolder();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const path = (name: string): string => join(folder, name);
const nothing = (): void => {};
const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
const lockOf = (name: string): string => path(`history.lock.${name}`);

describe('a heartbeat', () => {
  it('changes the fingerprint of its file, which is null if the file is gone', async () => {
    const file = openSync(path('claim'), 'w');
    utimesSync(path('claim'), 5, 5);
    const before = fingerprintOf(path('claim'));
    expect(fingerprintOf(path('claim'))).toBe(before);
    touch(file);
    const after = fingerprintOf(path('claim'));
    expect(after).not.toBe(before);
    closeSync(file);
    writeFileSync(path('other'), 'x');
    utimesSync(path('other'), statSync(path('claim')).mtimeMs / 1000, statSync(path('claim')).mtimeMs / 1000);
    expect(fingerprintOf(path('other'))).not.toBe(after);
    rmSync(path('claim'));
    expect(fingerprintOf(path('claim'))).toBeNull();
  });

  it('that cannot be written does no harm', () => {
    writeFileSync(path('claim'), '');
    const file = openSync(path('claim'), 'r');
    closeSync(file);
    touch(file);
    expect(statSync(path('claim')).size).toBe(0);
  });

  it('is written by long work now and then, and by nobody without the lock', () => {
    let sent = 0;
    class Counted extends Claim {
      override heartbeat(): void {
        sent += 1;
      }
    }
    heartbeat();
    runAsHolder(new Counted(path('claim')), () => {
      for (const end = Date.now() + 700; Date.now() < end; ) heartbeat();
    });
    heartbeat();
    expect(sent).toBe(1);
  });
});

describe('a claim', () => {
  it('exists from its creation until it is withdrawn or revoked, and says which', () => {
    const claim = new Claim(path('claim'));
    expect([claim.isMade, claim.isStanding, claim.withdraw()]).toEqual([false, false, false]);
    claim.heartbeat();
    claim.make();
    expect([claim.isMade, claim.isStanding]).toEqual([true, true]);
    utimesSync(path('claim'), 5, 5);
    claim.heartbeat();
    expect(statSync(path('claim')).mtimeMs).toBeGreaterThan(5000);
    expect(claim.withdraw()).toBe(true);
    expect([claim.isMade, readdirSync(folder)]).toEqual([false, []]);
    claim.make();
    rmSync(path('claim'));
    expect([claim.isStanding, claim.withdraw(), claim.isMade]).toEqual([false, false, false]);
  });

  it('of another thread of this process is left to that one', () => {
    writeFileSync(path('claim'), '');
    const claim = new Claim(path('claim'));
    claim.make();
    expect([claim.isMade, claim.withdraw(), readdirSync(folder)]).toEqual([false, false, ['claim']]);
    expect(() => new Claim(join(folder, 'none', 'claim')).make()).toThrow('ENOENT');
  });

  it('makes its process the holder while the work runs', () => {
    const claim = new Claim(path('claim'));
    claim.make();
    expect(runAsHolder(claim, () => assertLockHeld())).toBeUndefined();
    expect(() =>
      runAsHolder(claim, () => {
        claim.withdraw();
        assertLockHeld();
      }),
    ).toThrow(LockLost);
    assertLockHeld();
  });
});

describe('the watch of other processes', () => {
  it('counts how long a file was seen unchanged, from the first look, and starts over with each change', async () => {
    const watch = new LivenessWatch();
    expect(watch.unchangedFor(path('claim'))).toBeNull();
    writeFileSync(path('claim'), '');
    expect(watch.unchangedFor(path('claim'))).toBe(0);
    await pause(40);
    expect(watch.unchangedFor(path('claim'))).toBeGreaterThanOrEqual(35);
    await pause(40);
    expect(watch.unchangedFor(path('claim'))).toBeGreaterThanOrEqual(70);
    utimesSync(path('claim'), 5, 5);
    expect(watch.unchangedFor(path('claim'))).toBe(0);
    await pause(20);
    rmSync(path('claim'));
    expect(watch.unchangedFor(path('claim'))).toBeNull();
    writeFileSync(path('claim'), '');
    utimesSync(path('claim'), 5, 5);
    expect(watch.unchangedFor(path('claim'))).toBe(0);
  });

  it('counts at most a second between two looks, because it may have been suspended itself', async () => {
    const watch = new LivenessWatch();
    writeFileSync(path('claim'), '');
    watch.unchangedFor(path('claim'));
    await pause(1200);
    const unchanged = watch.unchangedFor(path('claim')) ?? 0;
    expect(unchanged).toBeGreaterThan(900);
    expect(unchanged).toBeLessThanOrEqual(1000);
  });
});

describe('what this machine has observed of files', () => {
  const seen = (): Record<string, Record<string, [string, number]>> =>
    JSON.parse(readFileSync(path('history.seen'), 'utf8'));

  it('is shared between processes by the clock since boot', () => {
    for (const name of ['one', 'two']) writeFileSync(path(name), '');
    expect([...unchangedFor(folder, ['one', 'two', 'gone'])]).toEqual([
      ['one', 0],
      ['two', 0],
    ]);
    const now = uptime() * 1000;
    const all = seen();
    const here = all[bootId()] ?? {};
    expect(Object.keys(here)).toEqual(['one', 'two']);
    expect(Math.abs((here.one?.[1] ?? 0) - now)).toBeLessThan(2000);
    here.one = [here.one?.[0] ?? '', Math.round(now) - 50_000];
    writeFileSync(path('history.seen'), JSON.stringify(all));
    utimesSync(path('two'), 5, 5);
    const later = unchangedFor(folder, ['one', 'two']);
    expect(later.get('one')).toBeGreaterThanOrEqual(50_000);
    expect(later.get('one')).toBeLessThan(55_000);
    expect(later.get('two')).toBe(0);
    expect(statSync(path('history.seen')).mode & 0o777).toBe(0o600);
  });

  it('in another boot, or in the future, is ignored', () => {
    writeFileSync(path('one'), '');
    const fingerprint = fingerprintOf(path('one')) ?? '';
    writeFileSync(
      path('history.seen'),
      JSON.stringify({ other: { one: [fingerprint, 1] }, [bootId()]: { one: [fingerprint, 1e15] } }),
    );
    expect(unchangedFor(folder, ['one']).get('one')).toBe(0);
    expect(seen().other).toEqual({ one: [fingerprint, 1] });
    expect(seen()[bootId()]?.one?.[1]).toBeLessThan(1e15);
  });

  it('is dropped for files that are gone, and kept for others', () => {
    for (const name of ['one', 'two', 'three']) writeFileSync(path(name), '');
    unchangedFor(folder, ['one', 'two']);
    writeFileSync(path('history.seen'), JSON.stringify({ ...seen(), other: { gone: ['x', 1] } }));
    rmSync(path('two'));
    unchangedFor(folder, ['three']);
    expect(Object.keys(seen())).toEqual([bootId()]);
    expect(Object.keys(seen()[bootId()] ?? {})).toEqual(['one', 'three']);
  });

  it.each(['', 'nonsense', '7', 'null', '[5]', '{"a":5}', '{"a":{"one":5}}', '{"a":{"one":["x","y"]}}', '{"a":null}'])(
    'that cannot be read is seen for the first time: %j',
    (text) => {
      writeFileSync(path('one'), '');
      writeFileSync(path('history.seen'), text);
      expect([...unchangedFor(folder, ['one'])]).toEqual([['one', 0]]);
      expect(Object.keys(seen())).toEqual([bootId()]);
    },
  );

  it('is not written if there is nothing, nor again if nothing changed', () => {
    expect([...unchangedFor(folder, [])]).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
    writeFileSync(path('one'), '');
    unchangedFor(folder, ['one']);
    utimesSync(path('history.seen'), 5, 5);
    unchangedFor(folder, ['one']);
    expect(statSync(path('history.seen')).mtimeMs).toBe(5000);
  });

  it('is forgotten each time if nothing can be written', () => {
    writeFileSync(path('one'), '');
    mkdirSync(path('history.seen'));
    expect(unchangedFor(folder, ['one']).get('one')).toBe(0);
    expect(unchangedFor(folder, ['one']).get('one')).toBe(0);
  });
});

describe('the name of a process', () => {
  const [place, pid, start] = processName().split('.');

  it('contains its machine, its id and its start time', () => {
    expect(processName()).toMatch(/^[0-9a-z]+\.\d+\.\d+$/);
    expect([Number(pid), processName()]).toEqual([process.pid, `${place}.${pid}.${start}`]);
    expect(Number(start)).toBeGreaterThan(0);
  });

  it('of a running process is alive, and no other is', () => {
    const parent = `${place}.${process.ppid}`;
    expect(['0', '7'].map((time) => livenessOf(`${parent}.${time}`))).toEqual(['alive', 'gone']);
    expect([`${place}.0x10.1`, `${place}.1.5.1`, `${place}.99999999999999999999.0`].map(livenessOf)).toEqual([
      'gone',
      'gone',
      'gone',
    ]);
    expect(livenessOf(`x${place}.${pid}.${start}`)).toBe('elsewhere');
  });
});

describe('the lock', () => {
  const other = `${processName().split('.')[0]}.${process.ppid}.0`;

  it('is waited for while another process has it, on this machine or elsewhere', async () => {
    for (const name of [other, `0.${process.ppid}.0`]) {
      writeFileSync(lockOf(name), '');
      const order: string[] = [];
      const work = runLocked(folder, nothing, () => order.push('work'));
      await pause(60);
      expect([order, readdirSync(folder)]).toEqual([[], [`history.lock.${name}`]]);
      rmSync(lockOf(name));
      await work;
      expect(order).toEqual(['work']);
    }
  });

  it('ignores a file that only looks like a claim, and leaves it', async () => {
    const names = [
      'history.lock.',
      'history.lock.mine',
      'history.lock.a.b.c',
      'history.lost.mine',
      'history.lost.a.1.1.TOO-LONG-1',
    ];
    for (const name of names) writeFileSync(path(name), '');
    let fenced = 0;
    await runLocked(folder, () => (fenced += 1), nothing);
    expect([fenced, readdirSync(folder).sort()]).toEqual([0, [...names].sort()]);
  });

  it('fences off the process whose claim was revoked, once, before the work', async () => {
    for (const name of ['history.lost.elsewhere.1.1.abc', `history.lost.${other}.0a9`]) writeFileSync(path(name), '');
    const order: string[] = [];
    await runLocked(
      folder,
      () => order.push('fence'),
      () => order.push('work'),
    );
    expect([order, readdirSync(folder)]).toEqual([['fence', 'work'], []]);
  });

  it('that was lost on the way is acquired again, and the work is repeated', async () => {
    const steal = (): void => rmSync(lockOf(processName()), { force: true });
    for (const until of ['once', 'whole'] as const) {
      let runs = 0;
      const result = await withLock(folder, until, nothing, () => {
        runs += 1;
        if (runs === 1) {
          steal();
          assertLockHeld();
        }
        return runs;
      });
      expect([result, runs]).toEqual([2, 2]);
    }
  });

  it('that was lost after the work is acquired again only for work that must be whole', async () => {
    for (const [until, expected] of [
      ['once', 1],
      ['whole', 2],
    ] as const) {
      let runs = 0;
      await withLock(folder, until, nothing, () => {
        runs += 1;
        if (runs === 1) rmSync(lockOf(processName()));
      });
      expect(runs).toBe(expected);
    }
  });

  it('that is lost again and again is given up with a reason, and other failures at once', async () => {
    let runs = 0;
    const lost = withLock(folder, 'whole', nothing, () => {
      runs += 1;
      rmSync(lockOf(processName()));
    });
    await expect(lost).rejects.toMatchObject({
      code: 'history',
      message: `Another hi took over the lock of the history in '${folder}' 5 times.`,
    });
    expect(runs).toBe(5);
    const failed = withLock(folder, 'whole', nothing, () => {
      runs += 1;
      throw new HiError('history', 'no');
    });
    await expect(failed).rejects.toThrow('no');
    expect([runs, readdirSync(folder)]).toEqual([6, []]);
  });
});
