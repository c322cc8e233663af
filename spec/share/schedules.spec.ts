import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { observeChanges } from '../support/kills.js';
import fc from '../support/properties.js';
import type { Machine } from '../support/shared.js';
import type { World as SharedWorld, Step } from '../support/shared-world.js';

observeChanges();
const { DONE, HAPPENS, keptOn, World } = await import('../support/shared-world.js');
const { fileIn, printed } = await import('../support/history.js');
const { decided, on, sync, turnsOn } = await import('../support/shared.js');

/**
 * A few in the suite; `HI_SCHEDULES=1000 npm run unit -- spec/share/schedules.spec.ts` draws as many as were asked for.
 */
const RUNS = Number(process.env.HI_SCHEDULES ?? 6);

const OFTEN = ['say', 'say', 'say', 'sync', 'sync', 'carry', 'carry', 'carry'] as const;

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom(...OFTEN, ...DONE, ...HAPPENS),
  who: fc.nat(9),
  n: fc.nat(99),
  kill: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat() }),
});

let worlds: SharedWorld[] = [];
afterEach(() => {
  for (const world of worlds) world.remove();
  worlds = [];
});

/** A write that was torn is mended when the history is opened. */
async function expectValid(machine: Machine, isTorn: boolean): Promise<void> {
  if (!isTorn && existsSync(fileIn(machine.data))) JSON.parse(printed(machine.data));
  expect((await on(machine, (history) => history.verify())).problems).toEqual([]);
}

async function exchangeAll(world: SharedWorld): Promise<void> {
  for (const machine of world.machines) await sync(machine);
  for (let round = 0; round < 4; round += 1) {
    world.carryAll();
    // The last numbers of a folder that was wiped may be missing for ever, and a minute passes before that is accepted.
    for (const machine of world.machines) await sync(machine, round < 2);
  }
}

async function expectOneConversation({ machines, said, forgotten }: SharedWorld): Promise<void> {
  const [first, ...others] = machines as [Machine, ...Machine[]];
  const all = await turnsOn(first);
  for (const other of others) {
    expect(await turnsOn(other)).toEqual(all);
    expect(await decided(other)).toEqual(await decided(first));
  }
  const words = all.join('\n');
  for (const word of said) expect(words).toContain(`"${word}"`);
  for (const machine of machines) {
    const kept = keptOn(machine);
    // Its answer, which repeats it, may have been left.
    for (const word of forgotten) expect(kept).not.toMatch(new RegExp(`(?<!\\bre )\\b${word}\\b`));
  }
}

describe('machines that share a conversation', () => {
  it('have the same conversation after an exchange, whatever happened, and wherever hi was killed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 45 }), async (steps) => {
        const world = await World.of(2 + (steps.length % 2));
        worlds.push(world);
        for (const one of steps) {
          const machine = world.machineOf(one);
          await expectValid(machine, await world.do(one));
        }
        await exchangeAll(world);
        await expectOneConversation(world);
        world.remove();
        worlds = [];
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
  }, 3_600_000);
});
