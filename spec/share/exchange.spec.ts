import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { quickFolder } from '../support/history.js';
import { type Machine, machinesSharing, removeMachine, say, sync, turnsOn } from '../support/shared.js';

let machines: readonly Machine[] = [];
afterEach(() => machines.forEach(removeMachine));

describe('an exchange', () => {
  it('brings the turns of each machine to the other, once', async () => {
    machines = await machinesSharing('laptop', 'desktop');
    const [laptop, desktop] = machines as [Machine, Machine];
    await say(laptop, 'one');
    await say(desktop, 'two');
    await sync(laptop);
    expect(await sync(desktop)).toBe(1);
    expect(await sync(laptop)).toBe(1);
    expect(await sync(laptop)).toBe(0);
    expect(await turnsOn(laptop)).toEqual(await turnsOn(desktop));
    expect(await turnsOn(laptop)).toHaveLength(2);
  });

  it('makes a machine of its own of a data folder that was copied to another host', async () => {
    machines = await machinesSharing('laptop');
    const [laptop] = machines as [Machine];
    await say(laptop, 'before the copy');
    await sync(laptop);
    const home = quickFolder();
    const copy = { ...laptop, name: 'copy', data: join(home, 'data'), memory: join(home, 'config', 'memory.md') };
    machines = [laptop, copy];
    cpSync(laptop.data, copy.data, { recursive: true });
    await say(copy, 'on the copy');
    for (const machine of [copy, laptop, copy]) await sync(machine);
    expect(readdirSync(laptop.folder).filter((name) => name !== 'hi-share.json')).toHaveLength(2);
    expect(await turnsOn(copy)).toEqual(await turnsOn(laptop));
    expect(await turnsOn(laptop)).toHaveLength(2);
  });
});
