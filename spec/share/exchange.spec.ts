import { cpSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { isMessage } from '../../lib/chat/entry.js';
import { newUid } from '../../lib/chat/message.js';
import { exchangeNow, openSharing } from '../../lib/share/share.js';
import { barKnown, lacksFiles, machineId, statePaths } from '../../lib/share/state.js';
import { quickFolder } from '../support/history.js';
import {
  depsOf,
  entriesOf,
  KEY,
  type Machine,
  machinesSharing,
  on,
  removeMachine,
  say,
  sync,
  turnsOn,
} from '../support/shared.js';
import { keptOn } from '../support/shared-world.js';

const AT = '2026-11-22T09:00:00.000Z';

let machines: readonly Machine[] = [];

/** The files that machines have given out. */
const filesOf = ({ folder }: Machine): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.hi'))
    .map((name) => join(folder, name));

/** What is there after an exchange. */
const exchanged = async (machine: Machine) =>
  await on(machine, async (history) => {
    const settings = { folder: machine.folder, name: machine.name, key: async () => KEY };
    return await exchangeNow(settings, depsOf(machine, history), false);
  });

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

  it('makes one file of 64 small ones, and takes in each turn once whichever of them it has read', async () => {
    machines = await machinesSharing('laptop', 'desktop');
    const [laptop, desktop] = machines as [Machine, Machine];
    for (let turn = 0; turn < 70; turn += 1) {
      await say(laptop, `turn ${turn}`);
      await sync(laptop);
      if (turn === 30) await sync(desktop);
    }
    expect(filesOf(laptop).length).toBeLessThan(10);
    expect(await sync(desktop)).toBe(39);
    expect(await turnsOn(desktop)).toEqual(await turnsOn(laptop));
  });

  it('completes a turn that was cut short here with what another machine read of it, under the ids that it has', async () => {
    machines = await machinesSharing('laptop', 'desktop');
    const [laptop, desktop] = machines as [Machine, Machine];
    const uid = newUid();
    const asked = { role: 'user', content: [{ type: 'text', text: 'asked' }], cwd: '/w', uid } as const;
    const [begun] = await on(laptop, (history) => history.takeIn((id) => [{ ...asked, id, turn: id, at: AT }]));
    await sync(laptop);
    await say(laptop, 'then');
    await on(desktop, (history) =>
      history.takeIn((id) => [
        { ...asked, id, turn: id, at: AT },
        {
          role: 'assistant',
          content: [{ type: 'text', text: 'answered' }],
          cwd: '/w',
          stop_reason: 'end',
          at: AT,
          id: id + 1,
          turn: id,
        },
      ]),
    );
    await sync(desktop);
    expect([await sync(laptop), await sync(laptop), await sync(desktop)]).toEqual([1, 0, 1]);
    expect(await turnsOn(laptop)).toEqual(await turnsOn(desktop));
    const messages = (await entriesOf(laptop)).filter(isMessage);
    expect(messages.map(({ id, turn }) => [id, turn])).toEqual([
      [1, 1],
      [2, 2],
      [3, 2],
      [4, begun?.turn],
    ]);
  });

  it('waits a minute for a number that is missing, which is taken in whenever it comes', async () => {
    machines = await machinesSharing('laptop', 'desktop');
    const [laptop, desktop] = machines as [Machine, Machine];
    for (const word of ['one', 'two', 'three']) {
      await say(laptop, word);
      await sync(laptop);
    }
    const areMissing = async (): Promise<boolean> =>
      Object.values((await exchanged(desktop)).state.machines).some(lacksFiles);
    const second = filesOf(laptop).find((path) => basename(path).startsWith('2-')) ?? '';
    renameSync(second, `${laptop.folder}/away`);
    const clock = jest.spyOn(Date, 'now');
    const started = performance.timeOrigin + performance.now();
    for (const [seconds, came] of [
      [0, 1],
      [59, 0],
      [61, 1],
      [62, 0],
    ] as const) {
      clock.mockReturnValue(started + 1000 * seconds);
      expect(await sync(desktop)).toBe(came);
    }
    expect(await areMissing()).toBe(true);
    renameSync(`${laptop.folder}/away`, second);
    expect(await sync(desktop)).toBe(1);
    clock.mockRestore();
    expect(await areMissing()).toBe(false);
    expect(await turnsOn(desktop)).toEqual(await turnsOn(laptop));
  });

  it('waits for no number of a file that is lost: its machine gives out another in its place', async () => {
    machines = await machinesSharing('laptop', 'desktop');
    const [laptop, desktop] = machines as [Machine, Machine];
    for (const word of ['one', 'two', 'three']) {
      await say(laptop, word);
      await sync(laptop);
    }
    rmSync(filesOf(laptop).find((path) => basename(path).startsWith('2-')) ?? '');
    await sync(laptop);
    expect(await sync(desktop)).toBe(3);
  });

  it('reads what is good behind more damaged files than it reads at a time', async () => {
    machines = await machinesSharing('laptop', 'desktop');
    const [laptop, desktop] = machines as [Machine, Machine];
    await say(laptop, 'behind them');
    await sync(laptop);
    const [path = ''] = filesOf(laptop);
    for (let at = 0; at < 5001; at += 1) writeFileSync(join(path, `../0${at}`), '');
    expect((await sync(desktop)) + (await sync(desktop))).toBe(1);
  });

  it('names copies of what was read, and reads one once it is all that is left', async () => {
    machines = await machinesSharing('laptop', 'desktop', 'server');
    const [laptop, desktop, server] = machines as [Machine, Machine, Machine];
    await say(laptop, 'one');
    await sync(laptop);
    await sync(desktop);
    const [path = ''] = filesOf(laptop);
    const copy = join(path, '../1-1.sync-conflict-20261122.hi');
    cpSync(path, copy);
    cpSync(path, join(path, '../9-9-0123456789abcdef.hi'));
    const ignored = async (machine: Machine) => {
      const { state } = await exchanged(machine);
      return Object.values(state.machines).flatMap((one) => one.ignored.map(([name, , of]) => `${name} ${of}`));
    };
    const all = [basename(copy), '9-9-0123456789abcdef.hi'].map((name) => `${name} ${basename(path)}`).sort();
    for (const machine of [desktop, desktop, server, laptop]) expect((await ignored(machine)).toSorted()).toEqual(all);
    rmSync(path);
    expect(await ignored(desktop)).toHaveLength(1);
    expect(await turnsOn(server)).toEqual(await turnsOn(laptop));
  });

  it('forgets what is in a copy, too', async () => {
    machines = await machinesSharing('laptop');
    const [laptop] = machines as [Machine];
    const id = await say(laptop, 'SECRETx');
    await sync(laptop);
    const [path = ''] = filesOf(laptop);
    cpSync(path, join(path, '../copy.hi'));
    await on(laptop, (history) =>
      history.forget({ kind: 'messages', ids: [id, id + 1] }, () => undefined, {
        uid: newUid(),
        turns: [],
        messages: [],
      }),
    );
    await sync(laptop);
    expect(keptOn(laptop)).not.toContain('SECRETx');
  });

  it('tells what came although nothing can be given out', async () => {
    machines = await machinesSharing('laptop', 'desktop');
    const [laptop, desktop] = machines as [Machine, Machine];
    await say(laptop, 'said here');
    await sync(laptop);
    await say(desktop, 'said there');
    await on(desktop, async (history) => {
      // What it writes is written under another name first.
      const deps = depsOf(desktop, history);
      const sharing = openSharing({ folder: desktop.folder, name: 'desktop', key: async () => KEY }, deps);
      const own = machineId(statePaths(desktop.data), deps.host);
      writeFileSync(join(desktop.folder, own), 'in the way');
      const { arrivals, notices } = await sharing.takeIn();
      expect(arrivals).toMatchObject([{ machine: 'laptop', turns: 1 }]);
      expect(notices.join()).toContain('cannot be used');
    });
  });

  it('does not count what was cleared here among the turns of a machine', async () => {
    machines = await machinesSharing('laptop', 'desktop');
    const [laptop, desktop] = machines as [Machine, Machine];
    await say(laptop, 'one');
    await sync(laptop);
    await sync(desktop);
    const counted = async (): Promise<readonly number[]> =>
      Object.values((await exchanged(desktop)).state.machines).map(({ turns }) => turns);
    expect(await counted()).toEqual([1]);
    barKnown(desktop.data);
    await on(desktop, async (history) => await history.reset({ purge: false }));
    expect(await counted()).toEqual([0]);
    await say(laptop, 'two');
    await sync(laptop);
    expect(await counted()).toEqual([1]);
  });

  it('counts the turns of a machine whose files come after everything was read anew', async () => {
    machines = await machinesSharing('laptop', 'desktop');
    const [laptop, desktop] = machines as [Machine, Machine];
    for (const machine of [laptop, desktop, laptop, desktop]) {
      await say(machine, 'something');
      await sync(machine);
    }
    await sync(laptop);
    const counted = async (): Promise<readonly number[]> =>
      Object.values((await exchanged(laptop)).state.machines).map(({ turns }) => turns);
    expect(await counted()).toEqual([2, 2]);
    const { machine: own } = await exchanged(laptop);
    const isOwn = (path: string): boolean => path.includes(own);
    for (const path of filesOf(laptop).filter(isOwn).slice(0, 1)) rmSync(path);
    const away = filesOf(laptop).filter((path) => !isOwn(path));
    for (const path of away) renameSync(path, join(laptop.data, basename(path)));
    expect([...(await counted())].sort()).toEqual([0, 2]);
    for (const path of away) renameSync(join(laptop.data, basename(path)), path);
    expect(await counted()).toEqual([2, 2]);
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
