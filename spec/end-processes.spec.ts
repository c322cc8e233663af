import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { endProcesses, isRunning, MARK, membersIn, newMark, processSystem } from '../lib/processes.js';

const processes = { group: 812, mark: '700-abc.1.' };

/** What `ps` prints on macOS. */
const LISTING = `    1     1 Ss   /sbin/launchd
  812   812 Ss   bash -c sleep 100 HOME=/Users/ada ${MARK}=700-abc.1. PATH=/bin
  813   812 S    sleep 100
  814   812 Z    (true)
  900   900 S    daemon HOME=/Users/ada ${MARK}=700-abc.1. PATH=/bin
  901   901 S    daemon HOME=/Users/ada ${MARK}=700-abc.11. PATH=/bin
  ${process.pid}   812 S    hi
`;

describe('the processes of a command', () => {
  it('are found in the output of ps: its group, and processes with its mark, without zombies', () => {
    expect(membersIn(LISTING, processes)).toEqual([812, 813, 900]);
    expect(membersIn('', processes)).toEqual([]);
  });

  it('are ended on macOS as a group, and those that left it one by one', async () => {
    const sent: [number, unknown][] = [];
    const asked: string[] = [];
    const system = processSystem(
      'darwin',
      (file, args) => {
        asked.push([file, ...args].join(' '));
        return sent.some(([, signal]) => signal === 'SIGKILL') ? '' : LISTING;
      },
      (pid, signal) => void sent.push([pid, signal]),
    );
    await endProcesses(processes, 1, system);
    expect(asked[0]).toBe('ps -A -ww -E -o pid=,pgid=,stat=,command=');
    const all = [-812, 812, 813, 900];
    expect(sent).toEqual([...all.map((pid) => [pid, 'SIGTERM']), ...all.map((pid) => [pid, 'SIGKILL'])]);
  });

  it('are ended on Windows as a tree, found by the id of the shell', async () => {
    const asked: string[] = [];
    const system = processSystem(
      'win32',
      (file, args) => {
        asked.push([file, ...args].join(' '));
        return '';
      },
      (pid, signal) => {
        expect([pid, signal]).toEqual([812, 0]);
        if (asked.length > 0) throw new Error('ESRCH');
      },
    );
    expect(isRunning(processes, system)).toBe(true);
    await endProcesses(processes, 1000, system);
    expect(asked).toEqual(['taskkill.exe /PID 812 /T /F']);
  });

  it('are ended here, with one that ignores SIGTERM and one that left the group', async () => {
    const mark = newMark();
    const script = 'trap "" TERM; setsid sleep 60 & sleep 60 & wait';
    const child = spawn('/bin/sh', ['-c', script], {
      env: { PATH: process.env.PATH, [MARK]: mark },
      detached: true,
      stdio: 'ignore',
    });
    await once(child, 'spawn');
    const gone = once(child, 'exit');
    const here = { group: child.pid ?? 0, mark };
    expect(isRunning(here)).toBe(true);
    await endProcesses(here, 60);
    await gone;
    expect(isRunning(here)).toBe(false);
  });
});
