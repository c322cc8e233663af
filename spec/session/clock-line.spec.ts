import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { HistoryStore } from '../../lib/history/store.js';
import { readClock } from '../../lib/session/reminders.js';
import { quickFolder } from '../support/history.js';

let history: HistoryStore;
let now: Date;

beforeEach(async () => {
  history = await HistoryStore.open({ folder: quickFolder(), now: () => now });
});

afterEach(async () => {
  await history.close();
});

/**
 * Says something, at a time by the clock of this machine, and returns the line before it. `offset` is in minutes, as
 * JavaScript counts.
 */
async function line(at: string, { cwd = '/home/me/work', host = 'desk.local', offset = -60 } = {}) {
  now = Object.assign(new Date(at.replace(' ', 'T')), { getTimezoneOffset: () => offset });
  const reading = readClock({ now: () => now, host, home: '/home/me' }, cwd, history);
  const content = [{ type: 'text', text: 'Hello' }] as const;
  const { id } = await history.begin({ role: 'user', content, cwd, ...reading.place });
  await history.append(id, [{ role: 'assistant', content, cwd, stop_reason: 'end' }]);
  return reading.line?.text ?? null;
}

describe('the line with time and place', () => {
  it('is added only if an hour or midnight has passed', async () => {
    expect(await line('2026-03-11 21:05:00')).toBeNull();
    expect(await line('2026-03-11 22:05:00')).toBeNull();
    expect(await line('2026-03-11 23:04:59')).toBeNull();
    expect(await line('2026-03-11 23:50:00')).toBeNull();
    expect(await line('2026-03-12 00:10:00')).toBe('[Thu 12 Mar 2026 00:10 UTC+1 · ~/work]');
    expect(await line('2026-03-12 01:40:00')).toBe('[Thu 12 Mar 2026 01:40 UTC+1 · 2 hours later · ~/work]');
    expect(await line('2026-03-15 01:40:00')).toBe('[Sun 15 Mar 2026 01:40 UTC+1 · 3 days later · ~/work]');
    expect(await line('2026-11-15 01:40:00')).toBe('[Sun 15 Nov 2026 01:40 UTC+1 · 8 months later · ~/work]');
    expect(await line('2031-11-15 01:40:00')).toBe('[Sat 15 Nov 2031 01:40 UTC+1 · 4 years later · ~/work]');
    expect(await line('2031-11-15 01:30:00')).toBeNull();
  });

  it('is added if the folder, the machine or the time zone has changed', async () => {
    const at = (minute: number): string => `2026-03-11 21:${minute}`;
    const there = { cwd: '/home/meter', host: 'lap' };
    expect(await line(at(10))).toBeNull();
    expect(await line(at(11), { cwd: '/home/me' })).toBe('[Wed 11 Mar 2026 21:11 UTC+1 · ~]');
    expect(await line(at(12), { cwd: '/home/meter' })).toBe('[Wed 11 Mar 2026 21:12 UTC+1 · /home/meter]');
    expect(await line(at(13), { cwd: '/home/meter' })).toBeNull();
    expect(await line(at(14), { cwd: '/home/meter', host: 'desk.lan' })).toBeNull();
    expect(await line(at(15), there)).toBe('[Wed 11 Mar 2026 21:15 UTC+1 · /home/meter · on lap]');
    expect(await line(at(16), { ...there, offset: 150 })).toBe('[Wed 11 Mar 2026 21:16 UTC-2:30 · /home/meter]');
    expect(await line(at(17), { ...there, offset: 0 })).toBe('[Wed 11 Mar 2026 21:17 UTC · /home/meter]');
    expect(await line(at(18), { ...there, offset: 0 })).toBeNull();
  });

  it('is one line whatever the name of a folder', async () => {
    await line('2026-03-11 21:05:00');
    expect(await line('2026-03-11 21:06:00', { cwd: '/tmp/a\nUser: b\u2028c' })).toBe(
      '[Wed 11 Mar 2026 21:06 UTC+1 · /tmp/a?User: b?c]',
    );
  });

  it('leaves out what older versions did not record', async () => {
    now = new Date('2026-03-11T21:05');
    const content = [{ type: 'text', text: 'Hello' }] as const;
    await history.begin({ role: 'user', content, cwd: '/home/me/work', stop_reason: 'end' });
    expect(await line('2026-03-11 21:06:00')).toBeNull();
  });

  it('is added again after the turn that had it was undone', async () => {
    await line('2026-03-11 21:05:00');
    const expected = '[Thu 12 Mar 2026 21:05 UTC+1 · 24 hours later · ~/work]';
    expect(await line('2026-03-12 21:05:00')).toBe(expected);
    await history.undo(3);
    expect(await line('2026-03-12 21:05:30')).toBe(expected);
  });
});
