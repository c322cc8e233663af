import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { conversationOf, entriesAt, filesWith, keepAll, type Step } from '../support/forgetting.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { canTrace, killStep, straced } from '../support/strace.js';
import { itWhere } from '../support/where.js';

/** Every call by which it changes something on the disk, or waits for it. */
const CALLS = ['rename', 'unlink', 'rmdir', 'fsync', 'fdatasync', 'ftruncate', 'pwrite64', 'write'];

const TEXT = 'hunter2-xyzzy';

const STEPS: readonly Step[] = [
  { asked: 'no', answered: 'no', next: 'block' },
  { asked: 'words', answered: 'attachment', next: 'pin' },
  { asked: 'no', answered: 'no', next: 'block' },
  { asked: 'name', answered: 'no', next: 'nothing' },
];

/** The home with other folders of data, configuration and cache. */
const homeIn = (home: Home, folder: string): Home => {
  const [data, config] = [join(folder, 'data'), join(folder, 'config')];
  const env = { ...home.env, HI_DATA_DIR: data, HI_CONFIG_DIR: config, HI_CACHE_DIR: join(folder, 'cache') };
  return { ...home, folder, data, config, historyFile: join(data, 'history.json.zst'), env };
};

/** Kills it at such calls; `check` gets the home as each kill leaves it. */
async function killEverywhere(home: Home, pristine: Home, check: (world: Home, point: string) => Promise<void>) {
  let kills = 0;
  const world = homeIn(home, join(home.folder, 'world'));
  for (const at of CALLS) {
    for (let when = 1; ; when += killStep(at)) {
      rmSync(world.folder, { recursive: true, force: true });
      cpSync(pristine.folder, world.folder, { recursive: true });
      const under = straced({ at, when, does: 'kill' });
      const { status } = await runProgram(world, ['forget', '-y', '-q', TEXT], { under });
      if (status === 0) break;
      kills += 1;
      await check(world, `${at} ${when}`);
    }
  }
  return kills;
}

describe('a kill at any system call of hi forget', () => {
  itWhere(canTrace, 'strace cannot be used here')(
    'leaves each conversation as before or after, and the next run finishes it',
    async () => {
      const home = makeHome({ provider: 'ollama', model: 'none' });
      try {
        const pristine = homeIn(home, join(home.folder, 'pristine'));
        cpSync(home.config, pristine.config, { recursive: true });
        keepAll(pristine, conversationOf(STEPS, TEXT, 'now'), conversationOf(STEPS, TEXT, 'before'), TEXT);
        const files = ['data/history.json.zst', 'data/history.reset.json.zst', 'config/memory.md'];
        const contentsIn = (folder: string) =>
          files.map((file) => {
            const path = join(folder, file);
            return JSON.stringify(file.endsWith('.zst') ? entriesAt(path) : readFileSync(path, 'utf8'));
          });
        const before = contentsIn(pristine.folder);
        const done = homeIn(home, join(home.folder, 'done'));
        cpSync(pristine.folder, done.folder, { recursive: true });
        expect((await runProgram(done, ['forget', '-y', '-q', TEXT])).status).toBe(0);
        const after = contentsIn(done.folder);
        expect(after.map((content, index) => content !== before[index])).toEqual(files.map(() => true));
        const seen = new Set<boolean>();
        const kills = await killEverywhere(home, pristine, async (world, point) => {
          const found = contentsIn(world.folder);
          for (const [index, content] of found.entries())
            expect({ point, file: files[index], known: [before[index], after[index]].includes(content) }).toMatchObject(
              {
                known: true,
              },
            );
          const isDone = found[0] === after[0];
          seen.add(isDone);
          // Once the messages are gone, nothing but attachments that no message has is left.
          const rest = filesWith(world, TEXT).filter((path) => !path.includes('attachments'));
          if (isDone) expect({ point, rest }).toEqual({ point, rest: [] });
          const again = await runProgram(world, ['forget', '-y', '-q', TEXT]);
          expect({ point, status: again.status, rest: filesWith(world, TEXT), now: contentsIn(world.folder) }).toEqual({
            point,
            status: 0,
            rest: [],
            now: after,
          });
        });
        expect(kills).toBeGreaterThan(20);
        expect(seen.size).toBe(2);
      } finally {
        home.remove();
      }
    },
    600_000,
  );
});
