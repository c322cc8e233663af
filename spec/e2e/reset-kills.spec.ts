import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect } from '@jest/globals';
import type { HistoryStore } from '../../lib/history/store.js';
import { archived, openIn, says } from '../support/history.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { canTrace, killStep, straced } from '../support/strace.js';
import { itWhere } from '../support/where.js';

/** Every call by which a reset changes something on the disk, or waits for it. */
const CALLS = ['openat', 'rename', 'link', 'unlink', 'rmdir', 'mkdir', 'fsync', 'ftruncate', 'pwrite64', 'write'];

/** What a user has: the conversation and the copy, each by its words; null where there is none. */
interface State {
  readonly history: string | null;
  readonly copy: string | null;
}

const BEFORE: State = { history: 'B', copy: 'A' };

let home: Home;
beforeEach(() => {
  home = makeHome({ provider: 'ollama', model: 'none' });
});
afterEach(() => home.remove());

/** A conversation of one message with an image. */
async function converse(store: HistoryStore, words: string): Promise<void> {
  const bytes = Buffer.from(`the image of ${words}`);
  const sha256 = await store.attachments.add(bytes);
  const image = { type: 'image', mime: 'image/png', sha256, bytes: bytes.length } as const;
  await store.note({ ...says(words), content: [...says(words).content, image] });
}

async function prepare(): Promise<void> {
  const store = await openIn(home.data);
  await converse(store, 'A');
  await store.reset({ purge: false });
  await converse(store, 'B');
  await store.close();
}

/** What a later process finds, each image looked at; nothing in the folder changes. */
async function stateIn(data: string): Promise<State> {
  const copied = mkdtempSync(join(tmpdir(), 'hi-state-'));
  try {
    const folder = dirname(data);
    cpSync(folder, copied, { recursive: true, verbatimSymlinks: true });
    const store = await openIn(join(copied, 'data'));
    const history = await wordsOf(store);
    const copy = await store.undoReset().then(
      () => wordsOf(store),
      () => null,
    );
    await store.close();
    return { history, copy };
  } finally {
    rmSync(copied, { recursive: true, force: true });
  }
}

async function wordsOf(store: HistoryStore): Promise<string | null> {
  const words: string[] = [];
  for (const entry of await archived(store)) {
    if ('type' in entry) continue;
    for (const part of entry.content) {
      if (part.type === 'text') words.push(part.text);
      if (part.type !== 'image') continue;
      const bytes = await store.attachments.get(part.sha256);
      words.push(
        Buffer.from(bytes ?? '(lost)')
          .toString()
          .replace(`the image of ${words.at(-1)}`, ''),
      );
    }
  }
  return words.length === 0 ? null : words.join('');
}

const COMMANDS = {
  reset: ['reset', '-y'],
  undo: ['reset', '--undo', '-y'],
  purge: ['reset', '--purge', '-y'],
} as const;

type Command = keyof typeof COMMANDS;

/** What a command makes of a state. */
function model(command: Command, { history, copy }: State): State {
  if (command === 'purge') return { history: null, copy: null };
  if (command === 'reset') return history === null ? { history, copy } : { history: null, copy: history };
  return copy === null ? { history, copy } : { history: copy, copy: history };
}

const ALLOWED: Readonly<Record<Command, readonly State[]>> = {
  reset: [BEFORE, model('reset', BEFORE)],
  undo: [BEFORE, model('undo', BEFORE)],
  // The copy goes first.
  purge: [BEFORE, { history: 'B', copy: null }, model('purge', BEFORE)],
};

/** Kills the command at the calls it makes; `check` gets the data folder as each kill leaves it. */
async function killEverywhere(
  command: Command,
  check: (data: string, point: string) => Promise<void>,
): Promise<number> {
  const pristine = join(home.folder, 'pristine');
  const world = join(home.folder, 'world');
  mkdirSync(pristine);
  renameSync(home.data, join(pristine, 'data'));
  let kills = 0;
  for (const at of CALLS) {
    for (let when = 1; ; when += killStep(at)) {
      rmSync(world, { recursive: true, force: true });
      cpSync(pristine, world, { recursive: true, verbatimSymlinks: true });
      const data = join(world, 'data');
      // Below the folder only: what the program reads of itself is not what is tried here.
      const env = { HI_DATA_DIR: data };
      const under = straced({ at, when, does: 'kill', ...(at === 'openat' ? { path: data } : {}) });
      const { status } = await runProgram(home, COMMANDS[command], { env, under });
      if (status === 0) break;
      kills += 1;
      await check(data, `${command}, ${at} ${when}`);
    }
  }
  return kills;
}

describe('a kill at any system call', () => {
  for (const command of ['reset', 'undo', 'purge'] as const)
    itWhere(canTrace, 'strace cannot be used here')(
      `of ${command} leaves conversations and images as before or after`,
      async () => {
        await prepare();
        const seen = new Set<string>();
        const kills = await killEverywhere(command, async (data, point) => {
          const state = await stateIn(data);
          seen.add(JSON.stringify(state));
          expect({ point, states: ALLOWED[command] }).toEqual({ point, states: expect.arrayContaining([state]) });
          let expected = state;
          for (const next of ['undo', 'reset', 'undo', 'undo'] as const) {
            const store = await openIn(data);
            await (next === 'reset' ? store.reset({ purge: false }) : store.undoReset().catch(() => undefined));
            await store.close();
            expected = model(next, expected);
            expect({ point, next, state: await stateIn(data) }).toEqual({ point, next, state: expected });
          }
        });
        expect(kills).toBeGreaterThan(5);
        expect(seen.size).toBeGreaterThan(1);
      },
      120_000,
    );
});
