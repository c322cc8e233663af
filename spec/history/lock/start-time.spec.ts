import { describe, expect, it } from '@jest/globals';
import { isSameStart, ownStartTime, startTimeOf } from '../../../lib/history/lock/holder.js';

describe('the start time of a process', () => {
  it('is read from ps on macOS, in seconds, and 0 for a zombie', () => {
    const asked: unknown[] = [];
    const ps = (printed: string) => (file: string, args: readonly string[]) => {
      asked.push([file, ...args]);
      return printed;
    };
    const at = startTimeOf(42, 'darwin', ps('Ss   Mon Nov 23 07:00:05 2026    \n'));
    expect(at).toBe(Date.parse('Mon Nov 23 07:00:05 2026') / 1000);
    expect(asked).toEqual([['ps', '-o', 'stat=,lstart=', '-p', '42']]);
    expect(startTimeOf(42, 'darwin', ps('Z    Mon Nov 23 07:00:05 2026\n'))).toBe(0);
    expect(startTimeOf(42, 'darwin', ps(''))).toBeNull();
  });

  it('is read from PowerShell on Windows, and unknown if that cannot run', () => {
    const asked: string[] = [];
    const run = (file: string, args: readonly string[]) => {
      asked.push([file, ...args].join(' '));
      return '1795417205\r\n';
    };
    expect(startTimeOf(42, 'win32', run)).toBe(1_795_417_205);
    expect(asked[0]).toMatch(/^powershell\.exe -NoProfile -NonInteractive -Command .*Get-Process -Id 42\)/);
    expect(startTimeOf(42, 'win32', () => 'Get-Process : Cannot find a process')).toBeNull();
    const fails = (): string => {
      throw new Error('ENOENT');
    };
    expect(startTimeOf(42, 'win32', fails)).toBeNull();
  });

  it('of this process is what ps says, within a second or two', () => {
    const told = startTimeOf(process.pid, 'darwin');
    expect(told).not.toBeNull();
    expect(isSameStart(told ?? 0, ownStartTime('darwin'), 'darwin')).toBe(true);
    expect(isSameStart((told ?? 0) - 60, ownStartTime('darwin'), 'darwin')).toBe(false);
  });

  it('is exact on Linux', () => {
    const own = ownStartTime('linux');
    expect(own).toBeGreaterThan(0);
    expect(startTimeOf(process.pid, 'linux')).toBe(own);
    expect(isSameStart(own, own + 1, 'linux')).toBe(false);
  });
});
