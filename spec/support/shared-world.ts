import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMessage } from '../../lib/chat/entry.js';
import { parseObject } from '../../lib/chat/json.js';
import { type Message, newUid, textOf } from '../../lib/chat/message.js';
import { asTokens } from '../../lib/chat/request.js';
import { HiError } from '../../lib/errors.js';
import { loadCodec } from '../../lib/history/file/codec.js';
import { readMemory } from '../../lib/memory/memory-file.js';
import { joinHistory } from '../../lib/share/joining.js';
import { openedFile, type SharedFolder } from '../../lib/share/news.js';
import { OwnFiles } from '../../lib/share/own-files.js';
import { parseKey } from '../../lib/share/sealed-file.js';
import { readMarker } from '../../lib/share/shared-folder.js';
import { pinnable } from '../../lib/view/block-state.js';
import { fileIn, printed, quickFolder } from './history.js';
import { killed } from './kills.js';
import { entriesOf, KEY, type Machine, machinesSharing, nextTime, on, removeMachine, say, sync } from './shared.js';

/** What can happen on a machine: what hi does there, which may be killed, and what else happens to its files. */
export const DONE = ['say', 'sync', 'repair', 'undo', 'redo', 'pin', 'unpin', 'forget', 'compact', 'import'] as const;
export const HAPPENS = [
  ...['carry', 'half-carry', 'remember', 'drop-line', 'clock', 'split', 'lose-state', 'keep', 'restore'],
  ...['restore-history', 'delete-file', 'wipe', 'clone'],
] as const;

/**
 * One thing that happens on the machine `who`; `n` chooses what it happens to, and `kill`, if it is not null, at which
 * change of a file hi is killed.
 */
export interface Step {
  readonly what: (typeof DONE)[number] | (typeof HAPPENS)[number];
  readonly who: number;
  readonly n: number;
  readonly kill: number | null;
}

/** An item that this version does not know. */
const NEWER = '{"kind":"of a newer hi"}';

const DAY = 24 * 60 * 60_000;

/** Machines, each with its own copy of the shared folder, and what a syncer and their users do. */
export class World {
  readonly machines: Machine[];
  /** What was said and what was forgotten for certain. What a kill interrupted is in neither. */
  readonly said = new Set<string>();
  readonly forgotten = new Set<string>();
  readonly #kept = new Map<string, string>();
  readonly #skews = new Map<string, number>();
  #count = 0;

  private constructor(machines: Machine[]) {
    this.machines = machines;
  }

  static async of(count: number): Promise<World> {
    const names = Array.from({ length: count }, (_, index) => `m${index}`);
    const [first, ...others] = await machinesSharing(...names);
    if (first === undefined) throw new Error('No machine.');
    const world = new World([]);
    for (const { name, data, memory } of [first, ...others]) {
      const folder = mkdtempSync(`${quickFolder()}-shared-`);
      cpSync(first.folder, folder, { recursive: true });
      world.#add({ name, data, memory, folder });
    }
    rmSync(first.folder, { recursive: true });
    return world;
  }

  #add(machine: Machine): void {
    this.machines.push({ ...machine, now: () => new Date(nextTime().getTime() + this.#skewOf(machine)) });
  }

  #skewOf({ name }: Machine): number {
    return this.#skews.get(name) ?? 0;
  }

  remove(): void {
    this.machines.forEach(removeMachine);
  }

  /** The machine of a step. */
  machineOf({ who }: Step): Machine {
    return this.machines[who % this.machines.length] as Machine;
  }

  /** Does a step. Resolves to whether it was killed while it wrote. */
  async do(step: Step): Promise<boolean> {
    const machine = this.machineOf(step);
    let isTorn = false;
    const { now } = Date;
    Date.now = () => now() + this.#skewOf(machine);
    try {
      if (step.kill === null || !isDone(step.what)) await this.#do(step, machine, true);
      else {
        const folders = [machine.data, join(machine.memory, '..'), machine.folder];
        isTorn = await killed(folders, step.kill, async () => await this.#do(step, machine, false));
      }
    } finally {
      Date.now = now;
    }
    return isTorn;
  }

  async #do({ what, n }: Step, machine: Machine, isCertain: boolean): Promise<unknown> {
    const other = this.machines[n % this.machines.length] as Machine;
    switch (what) {
      case 'say':
        return await this.#say(machine, isCertain);
      case 'sync':
      case 'repair':
        return await sync(machine, what === 'repair');
      case 'undo':
      case 'redo':
        return await this.#undo(machine, n, what);
      case 'pin':
      case 'unpin':
        return await this.#pin(machine, n, what);
      case 'forget':
        return await this.#forget(machine, n, isCertain);
      case 'compact':
        return await this.#compact(machine, n);
      case 'import':
        return await this.#import(machine, n % 3 === 0 ? this.#kept.get(other.name) : other.data);
      case 'carry':
        return this.#carry(machine, other, null);
      case 'half-carry':
        return this.#carry(machine, other, n);
      case 'remember':
        return this.#remember(machine);
      case 'drop-line':
        return this.#dropLine(machine, n);
      case 'clock':
        return this.#skews.set(machine.name, ((n % 5) - 2) * DAY);
      case 'split':
        return this.#split(machine);
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
        return rmSync(join(machine.folder, idOf(machine) ?? 'none'), { recursive: true, force: true });
      case 'clone':
        return this.#clone(machine);
    }
  }

  async #say(machine: Machine, isCertain: boolean): Promise<void> {
    this.#count += 1;
    const text = `word${this.#count}x`;
    await say(machine, text);
    if (isCertain) this.said.add(text);
  }

  /**
   * What a syncer does: the folder of that machine becomes as it is there. One that is interrupted has brought some
   * files whole, some in part and some not at all, and removed some of those that are gone.
   */
  #carry(from: Machine, to: Machine, interrupted: number | null): void {
    const id = idOf(from);
    if (id === null || from === to) return;
    const [source, target] = [join(from.folder, id), join(to.folder, id)];
    if (!existsSync(source)) return;
    let state = interrupted ?? 0;
    const chance = (): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 32;
    };
    mkdirSync(target, { recursive: true });
    const names = readdirSync(source).filter((name) => name.endsWith('.hi'));
    for (const name of readdirSync(target))
      if (!names.includes(name) && (interrupted === null || chance() < 0.5)) rmSync(join(target, name));
    for (const name of names) {
      const bytes = readFileSync(join(source, name));
      const part = interrupted === null ? 1 : chance() * 2;
      if (part > 0.5) writeFileSync(join(target, name), bytes.subarray(0, Math.floor(part * bytes.length)));
    }
  }

  carryAll(): void {
    for (const from of this.machines) for (const to of this.machines) this.#carry(from, to, null);
  }

  async #undo(machine: Machine, n: number, type: 'undo' | 'redo'): Promise<void> {
    const turns = [...new Set((await entriesOf(machine)).filter(isMessage).map(({ turn }) => turn))];
    const turn = turns[n % Math.max(1, turns.length)];
    if (turn !== undefined) await on(machine, (history) => history.mark({ type, turns: [turn] }));
  }

  async #pin(machine: Machine, n: number, type: 'pin' | 'unpin'): Promise<void> {
    const messages = await messagesOf(machine);
    const message = messages[n % Math.max(1, messages.length)];
    if (message === undefined) return;
    await on(machine, (history) =>
      history.mark(type === 'pin' ? { type, message: pinnable(message) } : { type, messages: [message.id] }),
    );
  }

  async #forget(machine: Machine, n: number, isCertain: boolean): Promise<void> {
    const messages = await messagesOf(machine);
    const found = messages[n % Math.max(1, messages.length)];
    if (found === undefined) return;
    const isWhole = n % 2 === 0;
    const meant = messages.filter(({ turn, id }) => (isWhole ? turn === found.turn : id === found.id));
    for (const { content } of meant) this.said.delete(textOf(content));
    const ids = meant.map(({ id }) => id);
    await on(machine, (history) =>
      history.forget({ kind: 'messages', ids }, () => undefined, { uid: newUid(), turns: [], messages: [] }),
    );
    if (isCertain)
      for (const { content } of meant)
        for (const part of content) if (part.type === 'text' && part.clock !== true) this.forgotten.add(part.text);
  }

  /** The summary repeats what was said, so that it must be forgotten with it. */
  async #compact(machine: Machine, n: number): Promise<void> {
    await on(machine, async (history) => {
      const compacting = history.compact(
        null,
        async function* (entries) {
          const messages = entries.filter(isMessage);
          const kept = messages[n % Math.max(1, messages.length)];
          const turn = messages.findIndex((message) => message.turn === kept?.turn);
          if (kept === undefined || turn <= 0) return null;
          const content = messages
            .slice(0, turn)
            .map((message) => textOf(message.content))
            .join(' ');
          const [messages_compacted, messages_kept] = [turn, messages.length - turn];
          const sizes = { tokens_before: asTokens(1000), tokens_after: asTokens(100) };
          const [strategy, source] = ['summary', 'model'] as const;
          return {
            type: 'compress',
            content,
            strategy,
            source,
            first_kept: kept.turn,
            messages_compacted,
            messages_kept,
            ...sizes,
          };
        },
        'keep',
      );
      for await (const _ of compacting);
    });
  }

  async #import(machine: Machine, data: string | undefined): Promise<void> {
    if (data === undefined || data === machine.data || !existsSync(fileIn(data))) return;
    try {
      await on(machine, (history) =>
        joinHistory(history, machine.data, fileIn(data), { isTheirs: false, isDry: false }),
      );
    } catch (thrown) {
      // Before the first exchange, another machine's conversation is another one.
      if (!(thrown instanceof HiError) || !thrown.message.includes('no turn of this conversation')) throw thrown;
    }
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

  /**
   * As if each item had been given out alone, and many more that are not known here: the next one that is given out
   * makes one file of all, and those who have read nothing of this machine yet take in more than they have.
   */
  #split(machine: Machine): void {
    const id = idOf(machine);
    if (id === null) return;
    const folder = sharedFolder(machine, id);
    const own = new OwnFiles(folder, machine.name);
    const path = join(machine.folder, id);
    const names = existsSync(path) ? readdirSync(path) : [];
    let given = own.newest;
    for (const name of names) {
      const content = openedFile(folder, id, name);
      if (typeof content === 'string') continue;
      for (const item of content.items) given = own.write([JSON.stringify(item)], given).last;
      rmSync(join(path, name), { force: true });
    }
    for (let more = names.length; more < 64; more += 1) given = own.write([NEWER], given).last;
    own.write(Array<string>(1001).fill(NEWER), given);
    rmSync(join(machine.data, 'share.json'), { force: true });
  }

  #keep(machine: Machine): void {
    // One from before it was shared would make it another machine.
    if (idOf(machine) === null) return;
    const copy = join(machine.data, '..', 'kept');
    rmSync(copy, { recursive: true, force: true });
    cpSync(machine.data, copy, { recursive: true });
    this.#kept.set(machine.name, copy);
  }

  /** What was given out and carried is not lost with the newer data folder. */
  async #restore(machine: Machine, isWhole: boolean): Promise<void> {
    const copy = this.#kept.get(machine.name);
    if (copy === undefined || !existsSync(fileIn(copy))) return;
    await sync(machine);
    for (const other of this.machines) this.#carry(machine, other, null);
    if (isWhole) {
      rmSync(machine.data, { recursive: true, force: true });
      cpSync(copy, machine.data, { recursive: true });
    } else cpSync(fileIn(copy), fileIn(machine.data));
  }

  #deleteFile(machine: Machine, n: number): void {
    const path = join(machine.folder, idOf(machine) ?? 'none');
    const names = existsSync(path) ? readdirSync(path) : [];
    const name = names[n % Math.max(1, names.length)];
    if (name !== undefined) rmSync(join(path, name), { recursive: true });
  }

  #clone(machine: Machine): void {
    if (this.machines.length > 3 || !existsSync(machine.data)) return;
    const home = quickFolder();
    const folder = mkdtempSync(`${quickFolder()}-shared-`);
    cpSync(join(machine.data, '..'), home, { recursive: true });
    cpSync(machine.folder, folder, { recursive: true });
    const name = `m${this.machines.length}`;
    this.#add({ name, data: join(home, 'data'), memory: join(home, 'config', 'memory.md'), folder });
  }
}

const isDone = (what: Step['what']): what is (typeof DONE)[number] => DONE.some((one) => one === what);

function idOf({ data }: Machine): string | null {
  const path = join(data, 'share.machine');
  // A kill may have left a part of it.
  const { id } = existsSync(path) ? (parseObject(readFileSync(path, 'utf8')) ?? {}) : {};
  return typeof id === 'string' ? id : null;
}

const messagesOf = async (machine: Machine): Promise<readonly Message[]> =>
  (await entriesOf(machine)).filter(isMessage).filter(({ content }) => content.length > 0);

function sharedFolder({ folder }: Machine, machine: string): SharedFolder {
  const key = parseKey(KEY) ?? Buffer.alloc(0);
  return { path: folder, id: readMarker(folder)?.id ?? '', machine, key, codec: loadCodec() };
}

/** Everything that a machine keeps, in its data folder and in its copy of the shared one. */
export function keptOn(machine: Machine): string {
  const { data, folder } = machine;
  const shared = sharedFolder(machine, '');
  const machines = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const given = machines.flatMap(({ name }) =>
    readdirSync(join(folder, name)).map((file) => JSON.stringify(openedFile(shared, name, file))),
  );
  const others = readdirSync(data, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'history.json.zst')
    .map(({ name }) => readFileSync(join(data, name), 'latin1'));
  return [existsSync(fileIn(data)) ? printed(data) : '', ...others, ...given].join('\n');
}
