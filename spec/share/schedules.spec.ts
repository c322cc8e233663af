import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isMessage } from '../../lib/chat/entry.js';
import { undoneTurns } from '../../lib/chat/entry-list.js';
import { newUid, turnName } from '../../lib/chat/turn-name.js';
import { loadCodec } from '../../lib/history/file/codec.js';
import { readMemory } from '../../lib/memory/memory-file.js';
import { linesOf } from '../../lib/memory/memory-text.js';
import { openedFile } from '../../lib/share/news.js';
import { parseKey } from '../../lib/share/sealed-file.js';
import { readMarker } from '../../lib/share/shared-folder.js';
import { pinnable, pinnedIn } from '../../lib/view/block-state.js';
import { newestBlock } from '../../lib/view/view.js';
import { quickFolder } from '../support/history.js';
import {
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

const RUNS = Number(process.env.HI_SCHEDULES ?? 8);

/** One thing that happens on a machine; `n` chooses what it happens to. */
const STEPS = [
  ...[
    'say',
    'say',
    'say',
    'sync',
    'sync',
    'carry',
    'carry',
    'carry',
    'cut',
    'undo',
    'redo',
    'pin',
    'unpin',
    'remember',
  ],
  ...['drop-line', 'forget', 'lose-state', 'keep', 'restore', 'restore-history', 'delete-file', 'wipe', 'clone'],
] as const;

interface Step {
  readonly what: (typeof STEPS)[number];
  readonly who: number;
  readonly n: number;
}

const step: fc.Arbitrary<Step> = fc.record({ what: fc.constantFrom(...STEPS), who: fc.nat(9), n: fc.nat(99) });

let worlds: World[] = [];
afterEach(() => {
  for (const { machines } of worlds) machines.forEach(removeMachine);
  worlds = [];
});

/** Machines, each with its own copy of the shared folder, and what a syncer and their users do. */
class World {
  readonly machines: Machine[];
  readonly said = new Set<string>();
  readonly forgotten = new Set<string>();
  readonly #kept = new Map<Machine, string>();
  #count = 0;

  private constructor(machines: Machine[]) {
    this.machines = machines;
  }

  static async of(count: number): Promise<World> {
    const names = Array.from({ length: count }, (_, index) => `m${index}`);
    const [first, ...others] = await machinesSharing(...names);
    if (first === undefined) throw new Error('No machine.');
    const apart = others.map((machine) => {
      const folder = mkdtempSync(`${quickFolder()}-shared-`);
      cpSync(first.folder, folder, { recursive: true });
      return { ...machine, folder };
    });
    const world = new World([first, ...apart]);
    worlds.push(world);
    return world;
  }

  async do({ what, who, n }: Step): Promise<void> {
    const machine = this.machines[who % this.machines.length] as Machine;
    const other = this.machines[n % this.machines.length] as Machine;
    switch (what) {
      case 'say':
        return await this.#say(machine);
      case 'sync':
        return void (await sync(machine));
      case 'carry':
        return this.#carry(machine, other);
      case 'cut':
        return this.#carry(machine, other, 10 + n);
      case 'undo':
      case 'redo':
        return await this.#undo(machine, n, what);
      case 'pin':
      case 'unpin':
        return await this.#pin(machine, n, what);
      case 'remember':
        return this.#remember(machine);
      case 'drop-line':
        return this.#dropLine(machine, n);
      case 'forget':
        return await this.#forget(machine, n);
      case 'lose-state':
        for (const name of ['share.json', 'share.known']) rmSync(join(machine.data, name), { force: true });
        return;
      case 'keep':
        return this.#keep(machine);
      case 'restore':
      case 'restore-history':
        return await this.#restore(machine, what === 'restore');
      case 'delete-file':
        return this.#deleteFile(machine, n);
      case 'wipe':
        return this.#wipe(machine);
      case 'clone':
        return this.#clone(machine);
    }
  }

  async #say(machine: Machine): Promise<void> {
    this.#count += 1;
    const text = `word${this.#count}x`;
    await say(machine, text);
    this.said.add(text);
  }

  /** What a syncer does: the folder of that machine becomes as it is there. A transfer that is `cut` leaves a part of its last file. */
  #carry(from: Machine, to: Machine, cut: number | null = null): void {
    const id = idOf(from);
    if (id === null || from === to) return;
    const [source, target] = [join(from.folder, id), join(to.folder, id)];
    if (!existsSync(source)) return;
    mkdirSync(target, { recursive: true });
    const names = readdirSync(source).filter((name) => name.endsWith('.hi'));
    for (const name of readdirSync(target)) if (!names.includes(name)) rmSync(join(target, name), { recursive: true });
    for (const name of names) {
      const bytes = readFileSync(join(source, name));
      const isCut = cut !== null && name === names.at(-1);
      writeFileSync(join(target, name), isCut ? bytes.subarray(0, cut) : bytes);
    }
  }

  carryAll(): void {
    for (const from of this.machines) for (const to of this.machines) this.#carry(from, to);
  }

  async #undo(machine: Machine, n: number, type: 'undo' | 'redo'): Promise<void> {
    const turns = [...new Set((await entriesOf(machine)).filter(isMessage).map(({ turn }) => turn))];
    const turn = turns[n % Math.max(1, turns.length)];
    if (turn !== undefined) await on(machine, (history) => history.mark({ type, turns: [turn] }));
  }

  async #pin(machine: Machine, n: number, type: 'pin' | 'unpin'): Promise<void> {
    const messages = (await entriesOf(machine)).filter(isMessage).filter(({ content }) => content.length > 0);
    const message = messages[n % Math.max(1, messages.length)];
    if (message === undefined) return;
    await on(machine, (history) =>
      history.mark(type === 'pin' ? { type, message: pinnable(message) } : { type, messages: [message.id] }),
    );
  }

  #remember({ memory }: Machine): void {
    this.#count += 1;
    mkdirSync(join(memory, '..'), { recursive: true });
    writeFileSync(memory, `${readMemory(memory)}- line${this.#count}\n`);
  }

  #dropLine({ memory }: Machine, n: number): void {
    const rows = readMemory(memory).split('\n').filter(Boolean);
    rows.splice(n % Math.max(1, rows.length), 1);
    if (existsSync(memory)) writeFileSync(memory, rows.map((row) => `${row}\n`).join(''));
  }

  async #forget(machine: Machine, n: number): Promise<void> {
    const messages = (await entriesOf(machine)).filter(isMessage).filter(({ content }) => content.length > 0);
    const found = messages[n % Math.max(1, messages.length)];
    if (found === undefined) return;
    const isWhole = n % 2 === 0;
    const meant = messages.filter(({ turn, id }) => (isWhole ? turn === found.turn : id === found.id));
    const ids = meant.map(({ id }) => id);
    await on(machine, (history) =>
      history.forget({ kind: 'messages', ids }, () => undefined, { uid: newUid(), turns: [], messages: [] }),
    );
    for (const { content } of meant)
      for (const part of content) if (part.type === 'text') this.forgotten.add(part.text);
  }

  #keep(machine: Machine): void {
    // One from before it was shared would make it another machine.
    if (idOf(machine) === null) return;
    const copy = join(machine.data, '..', 'kept');
    rmSync(copy, { recursive: true, force: true });
    if (existsSync(machine.data)) cpSync(machine.data, copy, { recursive: true });
    this.#kept.set(machine, copy);
  }

  /** What was given out and carried is not lost with the newer data folder. */
  async #restore(machine: Machine, isWhole: boolean): Promise<void> {
    const copy = this.#kept.get(machine);
    if (copy === undefined || !existsSync(join(copy, 'history.json.zst'))) return;
    await sync(machine);
    for (const other of this.machines) this.#carry(machine, other);
    if (isWhole) {
      rmSync(machine.data, { recursive: true, force: true });
      cpSync(copy, machine.data, { recursive: true });
    } else cpSync(join(copy, 'history.json.zst'), join(machine.data, 'history.json.zst'));
  }

  #deleteFile(machine: Machine, n: number): void {
    const path = join(machine.folder, idOf(machine) ?? 'none');
    const names = existsSync(path) ? readdirSync(path) : [];
    const name = names[n % Math.max(1, names.length)];
    if (name !== undefined) rmSync(join(path, name), { recursive: true });
  }

  #wipe(machine: Machine): void {
    rmSync(join(machine.folder, idOf(machine) ?? 'none'), { recursive: true, force: true });
  }

  #clone(machine: Machine): void {
    if (this.machines.length > 3 || !existsSync(machine.data)) return;
    const home = quickFolder();
    const folder = mkdtempSync(`${quickFolder()}-shared-`);
    cpSync(join(machine.data, '..'), home, { recursive: true });
    cpSync(machine.folder, folder, { recursive: true });
    const name = `m${this.machines.length}`;
    const memory = join(home, 'config', 'memory.md');
    this.machines.push({ name, data: join(home, 'data'), memory, folder });
  }
}

function idOf({ data }: Machine): string | null {
  const path = join(data, 'share.machine');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).id : null;
}

/** What a user decided, as it holds on a machine. */
async function decided(machine: Machine) {
  const entries = await entriesOf(machine);
  const names = new Map<number, string>();
  for (const entry of entries)
    if (isMessage(entry) && entry.content.length > 0 && !names.has(entry.turn)) names.set(entry.turn, turnName(entry));
  const pinned = [...pinnedIn(entries, newestBlock(entries), null).values()];
  return {
    undone: [...undoneTurns(entries)].flatMap((turn) => names.get(turn) ?? []).sort(),
    pins: pinned.map(({ turn, at, role }) => `${names.get(turn)} ${at} ${role}`).sort(),
    lines: linesOf(readMemory(machine.memory))
      .map(({ text }) => text)
      .sort(),
  };
}

/** Everything that is in the files of a shared folder. */
function contentOf({ folder, data }: Machine): string {
  const key = parseKey(KEY) ?? Buffer.alloc(0);
  const id = readMarker(folder)?.id ?? '';
  const own = idOf({ data } as Machine) ?? '';
  const shared = { path: folder, id, machine: own, key, codec: loadCodec() };
  const machines = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return machines
    .flatMap(({ name }) =>
      readdirSync(join(folder, name)).map((file) => JSON.stringify(openedFile(shared, name, file))),
    )
    .join('\n');
}

describe('machines that share a conversation', () => {
  it('have the same conversation after an exchange, whatever happened', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 45 }), async (steps) => {
        const world = await World.of(2 + (steps.length % 2));
        for (const one of steps) await world.do(one);
        for (const machine of world.machines) await sync(machine);
        for (let round = 0; round < 4; round += 1) {
          world.carryAll();
          // The last numbers of a folder that was wiped may be missing for ever, and a minute passes before that is accepted.
          for (const machine of world.machines) await sync(machine, round < 2);
        }
        const [first, ...others] = world.machines as [Machine, ...Machine[]];
        const all = await turnsOn(first);
        for (const other of others) {
          expect(await turnsOn(other)).toEqual(all);
          expect(await decided(other)).toEqual(await decided(first));
        }
        const words = all.join('\n');
        for (const word of world.said) if (!world.forgotten.has(word)) expect(words).toContain(`"${word}"`);
        for (const word of world.forgotten) {
          expect(words).not.toContain(`"${word}"`);
          for (const machine of world.machines) expect(contentOf(machine)).not.toContain(`"${word}"`);
        }
      }),
      {
        numRuns: RUNS,
        endOnFailure: true,
      },
    );
  }, 600_000);
});
