import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Entry, isMessage } from '../../lib/chat/entry.js';
import { undoneTurns } from '../../lib/chat/entry-list.js';
import { type Message, turnName } from '../../lib/chat/message.js';
import type { ForgetOrder } from '../../lib/chat/occurrence.js';
import { HistoryStore } from '../../lib/history/store.js';
import { readMemory } from '../../lib/memory/memory-file.js';
import { linesOf } from '../../lib/memory/memory-text.js';
import { isFinished } from '../../lib/share/log-reader.js';
import { beginSharing, exchangeNow, type ShareDeps } from '../../lib/share/share.js';
import { pinnedIn } from '../../lib/view/block-state.js';
import { newestBlock } from '../../lib/view/view.js';
import { archived, exchange, quickFolder } from './history.js';

/** A machine of a spec: a data folder, a memory and a place where it finds the shared folder. */
export interface Machine {
  readonly name: string;
  readonly data: string;
  readonly memory: string;
  readonly folder: string;
  /** What its clock says; that of all others if there is none. */
  readonly now?: () => Date;
}

/** The key of all shared folders of the specs. */
export const KEY = 'A'.repeat(43);

/** Machines that find one shared folder in place. The first begins to share. */
export async function machinesSharing(...names: readonly string[]): Promise<readonly Machine[]> {
  const folder = mkdtempSync(`${quickFolder()}-shared-`);
  const made = names.map((name): Machine => {
    const home = quickFolder();
    return { name, data: join(home, 'data'), memory: join(home, 'config', 'memory.md'), folder };
  });
  for (const { data, memory } of made)
    await beginSharing(folder, { data, memory }, { key: KEY, before: null, keys: [], ask: null });
  return made;
}

/** Removes what a machine has. */
export function removeMachine({ data, folder }: Machine): void {
  rmSync(join(data, '..'), { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
}

/** The time of the next thing that happens, one second after the last. */
let seconds = 0;
export function nextTime(): Date {
  seconds += 1;
  return new Date(Date.UTC(2026, 10, 22, 10, 0, seconds));
}

/** Opens a machine's history for `work`, which must not keep it. */
export async function on<Result>(machine: Machine, work: (history: HistoryStore) => Promise<Result>): Promise<Result> {
  const history = await HistoryStore.open({ folder: machine.data, now: machine.now ?? nextTime });
  try {
    return await work(history);
  } finally {
    await history.close();
  }
}

/** What sharing needs on a machine. */
export function depsOf({ data, memory, name }: Machine, history: HistoryStore): ShareDeps {
  return {
    history,
    data,
    memory,
    host: name,
    line: (from, at) => ({ type: 'text', text: `[${at} · on ${from}]`, clock: true }),
    reset: async (purge) => await history.reset({ purge }),
    async forget({ id, turns, messages }, ids) {
      const order: ForgetOrder = { kind: 'messages', ids };
      await history.forget(order, () => undefined, { uid: id, turns, messages });
    },
  };
}

/** Exchanges everything once, as `hi share sync` does. Resolves to the number of turns that came. */
export async function sync(machine: Machine, everything = false): Promise<number> {
  return await on(machine, async (history) => {
    const { folder, name } = machine;
    const settings = { folder, name, key: async () => KEY };
    const { arrivals } = await exchangeNow(settings, depsOf(machine, history), everything);
    return arrivals.reduce((sum, { turns }) => sum + turns, 0);
  });
}

/** Says something, which is answered. */
export async function say(machine: Machine, text: string): Promise<number> {
  return await on(machine, async (history) => (await exchange(history, text, `re ${text}`))[0]?.id ?? 0);
}

/** Everything in a machine's history. */
export async function entriesOf(machine: Machine): Promise<readonly Entry[]> {
  return await on(machine, archived);
}

/** The finished turns of a machine in the order that all machines agree on, without what is of one machine only. */
export async function turnsOn(machine: Machine): Promise<readonly string[]> {
  return [...finishedTurns(await entriesOf(machine)).values()]
    .map((messages) => {
      const said = messages.map(({ id: _id, turn: _turn, from: _from, ...message }) => {
        const content = message.content.filter((part) => part.type !== 'text' || part.clock !== true);
        return JSON.stringify({ ...message, content });
      });
      return [`${messages[0].at} ${turnName(messages[0])}`, ...said].join('\n');
    })
    .sort();
}

/** The turns that may leave a machine, without what `hi forget` has left in the place of messages. */
export function finishedTurns(entries: readonly Entry[]): ReadonlyMap<number, readonly [Message, ...Message[]]> {
  const turns = new Map<number, Message[]>();
  for (const entry of entries) if (isMessage(entry)) turns.set(entry.turn, [...(turns.get(entry.turn) ?? []), entry]);
  const finished = new Map<number, readonly [Message, ...Message[]]>();
  for (const [turn, messages] of turns) {
    const [first, ...others] = messages.filter(({ content }) => content.length > 0);
    if (first !== undefined && isFinished(messages)) finished.set(turn, [first, ...others]);
  }
  return finished;
}

/** What a user decided about what all machines have, as it holds on one. */
export async function decided(machine: Machine) {
  const entries = await entriesOf(machine);
  const turns = finishedTurns(entries);
  const nameOf = (turn: number): readonly string[] => {
    const [first] = turns.get(turn) ?? [];
    return first === undefined ? [] : [turnName(first)];
  };
  const pinned = [...pinnedIn(entries, newestBlock(entries), null).values()];
  return {
    undone: [...undoneTurns(entries)].flatMap(nameOf).sort(),
    pins: pinned.flatMap(({ turn, at, role }) => nameOf(turn).map((name) => `${name} ${at} ${role}`)).sort(),
    lines: linesOf(readMemory(machine.memory))
      .map(({ text }) => text)
      .sort(),
  };
}
