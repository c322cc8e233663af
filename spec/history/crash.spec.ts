import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Entry, isMessage } from '../../lib/chat/entry.js';
import { textOf } from '../../lib/chat/message.js';
import { bundle } from '../support/bundle.js';
import { archived, dataFolder, fileIn, openIn, printed } from '../support/history.js';

/** A few in the suite; `npm run test:crash` runs five hundred. */
const ROUNDS = Number(process.env.HI_CRASH_ROUNDS ?? 8);

/** A line the writer said. */
interface Line {
  readonly id?: number;
  readonly turn?: number;
  readonly text?: string;
  readonly reset?: 'begins' | 'done';
  readonly notices?: readonly string[];
}

let program = '';
beforeAll(async () => {
  program = await bundle('spec/support/history-writer.ts');
});

interface Writer {
  readonly child: ChildProcess;
  readonly lines: Line[];
  /** What it said on stderr. */
  readonly complaints: Buffer[];
  readonly ended: Promise<void>;
}

function writer(...args: readonly string[]): Writer {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const complaints: Buffer[] = [];
  child.stderr.on('data', (data: Buffer) => complaints.push(data));
  const lines: Line[] = [];
  let rest = '';
  child.stdout.on('data', (data: Buffer) => {
    const parts = (rest + data.toString('latin1')).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) lines.push(JSON.parse(part));
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  return { child, lines, complaints, ended };
}

/** Resolves when the writer said so many lines; throws when it ends before. */
async function said({ child, lines, complaints }: Writer, count: number): Promise<void> {
  while (lines.length < count) {
    if (child.exitCode !== null) throw new Error(`The writer ended with ${child.exitCode}: ${complaints}`);
    await pause(2);
  }
}

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** What was accepted and must be there, and whether a reset was under way at the end. */
function accepted(lines: readonly Line[], before: ReadonlyMap<number, string>) {
  let held = new Map(before);
  let resetting = false;
  for (const { id, text, reset } of lines) {
    if (id !== undefined) held.set(id, text ?? '');
    if (reset === 'done') held = new Map();
    if (reset !== undefined) resetting = reset === 'begins';
  }
  return { held, resetting };
}

const textsOf = (entries: readonly Entry[]): ReadonlyMap<number, string> =>
  new Map(entries.filter(isMessage).map((message) => [message.id, textOf(message.content)]));

function missing(held: ReadonlyMap<number, string>, found: ReadonlyMap<number, string>): readonly number[] {
  return [...held].filter(([id, text]) => found.get(id) !== text).map(([id]) => id);
}

// Many processes and files on what may be a busy machine.
jest.setTimeout(180_000);

describe('a process that is killed while it writes', () => {
  it(`leaves every accepted message, in a file that plain zstd reads (${ROUNDS} kills)`, async () => {
    const folder = dataFolder();
    let before: ReadonlyMap<number, string> = new Map();
    for (let round = 0; round < ROUNDS; round += 1) {
      const running = writer(folder, String(round), '0', 'yes');
      const { child, lines, ended } = running;
      await said(running, 1);
      await pause(Math.random() * 80);
      child.kill('SIGKILL');
      await ended;
      const { held, resetting } = accepted(lines, before);
      const entries: Entry[] = existsSync(fileIn(folder)) ? JSON.parse(printed(folder)) : [];
      const found = textsOf(entries);
      if (!(resetting && entries.length === 0)) expect(missing(held, found)).toEqual([]);
      const store = await openIn(folder);
      expect(store.takeNotices().filter((notice) => notice.includes('damaged'))).toEqual([]);
      expect((await store.verify()).problems).toEqual([]);
      await store.close();
      before = found;
    }
  }, 1_200_000);
});

describe('many processes on one history', () => {
  it('write their turns whole, with ascending ids, and lose nothing', async () => {
    const folder = dataFolder();
    const chat = writer(folder, '99', '10', 'no');
    const asks = Array.from({ length: 12 }, (_, index) => writer(folder, String(index), '1', 'no'));
    await Promise.all([chat, ...asks].map(({ ended }) => ended));
    const entries: Entry[] = JSON.parse(printed(folder));
    expect(entries.map(({ id }) => id)).toEqual(Array.from({ length: 66 }, (_, index) => index + 1));
    const found = textsOf(entries);
    for (const { lines } of [chat, ...asks]) {
      expect(missing(accepted(lines, new Map()).held, found)).toEqual([]);
    }
    const store = await openIn(folder);
    expect([store.takeNotices(), store.crashedTurn]).toEqual([[], null]);
    const turns = store.view(null).messages.map(({ turn }) => turn);
    expect(turns).toEqual([...turns].sort((one, other) => one - other));
    expect(turns).toHaveLength(66);
  });

  it('do so even if half of them are killed', async () => {
    const folder = dataFolder();
    const writers = Array.from({ length: 12 }, (_, index) =>
      writer(folder, String(index), index % 2 ? '0' : '8', 'no'),
    );
    const victims = writers.filter((_, index) => index % 2 === 1);
    await Promise.all(
      victims.map(async (victim) => {
        await said(victim, 2);
        await pause(Math.random() * 200);
        victim.child.kill('SIGKILL');
      }),
    );
    await Promise.all(writers.map(({ ended }) => ended));
    const entries: Entry[] = JSON.parse(printed(folder));
    expect(entries.map(({ id }) => id)).toEqual(entries.map((_, index) => index + 1));
    const found = textsOf(entries);
    for (const { lines } of writers) expect(missing(accepted(lines, new Map()).held, found)).toEqual([]);
    const store = await openIn(folder);
    const sizes = new Map<number, number>();
    for (const { turn } of store.view(null).messages) sizes.set(turn, (sizes.get(turn) ?? 0) + 1);
    expect(new Set(sizes.values())).toEqual(new Set([3]));
    expect((await archived(store)).length).toBe(entries.length);
    expect((await store.verify()).problems).toEqual([]);
  });

  it('can be followed by a reader, entry by entry, at any time', async () => {
    const folder = dataFolder();
    const writers = [writer(folder, '1', '25', 'no'), writer(folder, '2', '25', 'no')];
    await Promise.all(writers.map((one) => said(one, 2)));
    const store = await openIn(folder);
    let looks = 0;
    let ended = false;
    const all = Promise.all(writers.map((one) => one.ended)).then(() => {
      ended = true;
    });
    while (!ended) {
      await store.refresh();
      looks += 1;
      expect(store.entries.every(({ id }, index) => id === index + 1)).toBe(true);
      await pause(0);
    }
    await all;
    await store.refresh();
    expect(store.entries.map(({ id }) => id)).toEqual(Array.from({ length: 150 }, (_, index) => index + 1));
    expect(store.takeNotices()).toEqual([]);
    expect(looks).toBeGreaterThan(10);
  });
});
