import { afterEach, describe, expect, it } from '@jest/globals';
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
});
