import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Place, TREE_LIMITS, TreeIndex } from '../../../lib/permission/paths/tree-places.js';
import { asNobody } from '../../support/nobody.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hi-tree-'));
  for (const path of ['a/b/c', 'a/d', 'node_modules/x']) mkdirSync(join(folder, path), { recursive: true });
  for (const path of ['a/b/c/.env', 'a/.envrc', 'node_modules/x/.env']) writeFileSync(join(folder, path), '');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const tests = {
  isHidden: (path: string) => path.endsWith('/.env'),
  runsLater: (path: string) => path.endsWith('/.envrc'),
  isRepository: (path: string) => path.endsWith('/.git'),
  isKept: (path: string) => path.endsWith('/kept'),
  isDenied: (path: string) => path.endsWith('/denied'),
  isAbsent: (path: string) => path.endsWith('/absent'),
};

const pathsOf = (places: readonly Place[]): readonly string[] => places.map(({ path }) => path).sort();

describe('the protected files of a working folder', () => {
  it('are found wherever they are, and again after each change', async () => {
    const index = new TreeIndex(tests);
    const hidden = [{ path: join(folder, 'a/b/c/.env'), isFolder: false }];
    const found = { hidden, runsLater: [join(folder, 'a/.envrc')], kept: [] };
    expect(await index.find([folder])).toEqual({ ...found, closed: [], isComplete: true, hasAllPackages: true });
    writeFileSync(join(folder, 'a/d/.env'), '');
    expect(pathsOf((await index.find([folder])).hidden)).toEqual([
      join(folder, 'a/b/c/.env'),
      join(folder, 'a/d/.env'),
    ]);
  });

  it.each([
    ['folders', { ...TREE_LIMITS, folders: 4 }],
    ['files', { ...TREE_LIMITS, entries: 4 }],
  ])('are incomplete if there are more %s than are searched, which is reported', async (_what, most) => {
    expect((await new TreeIndex(tests, most).find([folder])).isComplete).toBe(false);
  });

  it('include those of a bare repository, whose settings are in the folder itself', async () => {
    const bare = join(folder, 'a/d');
    for (const name of ['HEAD', 'objects', 'refs']) {
      const found = (await new TreeIndex(tests).find([folder])).runsLater;
      expect([name, found.includes(bare)]).toEqual([name, false]);
      writeFileSync(join(bare, name), '');
    }
    expect((await new TreeIndex(tests).find([folder])).runsLater).toContain(bare);
  });

  it('include those of a repository whose objects are in another folder', async () => {
    for (const name of ['HEAD', 'commondir']) writeFileSync(join(folder, 'a/d', name), '');
    expect((await new TreeIndex(tests).find([folder])).runsLater).toContain(join(folder, 'a/d'));
  });

  it('are read again only where something has changed', async () => {
    let read = 0;
    const counting = (path: string): boolean => {
      if (path.endsWith('/a')) read += 1;
      return tests.isHidden(path);
    };
    const index = new TreeIndex({ ...tests, isHidden: counting });
    // A folder that changed a moment ago may change again without a new time.
    for (const expected of [1, 2]) {
      await index.find([folder]);
      expect(read).toBe(expected);
    }
    await new Promise((resolve) => setTimeout(resolve, 150));
    for (const expected of [3, 3, 3]) {
      const { hidden, runsLater } = await index.find([folder]);
      expect([read, pathsOf(hidden), runsLater]).toEqual([
        expected,
        [join(folder, 'a/b/c/.env')],
        [join(folder, 'a/.envrc')],
      ]);
    }
    writeFileSync(join(folder, '.env'), '');
    expect(pathsOf((await index.find([folder])).hidden)).toEqual([join(folder, '.env'), join(folder, 'a/b/c/.env')]);
    expect(read).toBe(4);
  });

  it.each([
    [{ folders: 5, entries: 7 }, true],
    [{ folders: 4, entries: 7 }, false],
    [{ folders: 5, entries: 6 }, false],
  ])('are all found up to the limits: %j', async (most, isComplete) => {
    expect((await new TreeIndex(tests, most).find([folder])).isComplete).toBe(isComplete);
  });

  it('are not searched for in the folder of git itself', async () => {
    mkdirSync(join(folder, '.git/deep'), { recursive: true });
    for (const path of ['.git/.env', '.git/deep/.envrc']) writeFileSync(join(folder, path), '');
    const { hidden, runsLater } = await new TreeIndex(tests).find([folder], undefined, true);
    expect([pathsOf(hidden), runsLater]).toEqual([[join(folder, 'a/b/c/.env')], [join(folder, 'a/.envrc')]]);
  });

  it('include folders that cannot be listed, and not a file in the place of a folder', async () => {
    expect((await new TreeIndex(tests).find([join(folder, 'a/.envrc')])).closed).toEqual([]);
    const found = await asNobody(async () => {
      const own = mkdtempSync(join(tmpdir(), 'hi-tree-'));
      mkdirSync(join(own, 'shut'));
      chmodSync(join(own, 'shut'), 0);
      const { closed, hidden } = await new TreeIndex(tests).find([own]);
      rmSync(own, { recursive: true });
      return [closed.map((path) => path.slice(own.length)), hidden];
    });
    expect(found).toEqual([['/shut'], []]);
  });

  it('include named pipes, through which a command would reach other programs', async () => {
    execFileSync('mkfifo', [join(folder, 'a/d/control')]);
    expect(pathsOf((await new TreeIndex(tests).find([folder])).hidden)).toContain(join(folder, 'a/d/control'));
  });

  it('are empty for a missing folder, and are not searched for below installed packages', async () => {
    expect(await new TreeIndex(tests).find([join(folder, 'gone')])).toEqual({
      ...{ hidden: [], runsLater: [], kept: [], closed: [], isComplete: true, hasAllPackages: true },
    });
    mkdirSync(join(folder, 'a/.env'));
    writeFileSync(join(folder, 'a/.env/.envrc'), '');
    const { hidden, runsLater } = await new TreeIndex(tests).find([folder]);
    expect(pathsOf(hidden)).toEqual([join(folder, 'a/.env'), join(folder, 'a/b/c/.env')]);
    expect(runsLater).toEqual([join(folder, 'a/.envrc')]);
  });

  it('are only repositories in installed packages, for a writing command, however deep', async () => {
    const index = new TreeIndex(tests);
    for (const path of ['x/.git', '@scope/y/lib/.git', 'x/node_modules/z/.git'])
      mkdirSync(join(folder, 'node_modules', path), { recursive: true });
    writeFileSync(join(folder, 'node_modules/x/.envrc'), '');
    expect((await index.find([folder])).runsLater).toEqual([join(folder, 'a/.envrc')]);
    const { hidden, runsLater } = await index.find([folder], undefined, true);
    expect(pathsOf(hidden)).toEqual([join(folder, 'a/b/c/.env')]);
    expect([...runsLater].sort()).toEqual(
      ['a/.envrc', ...['@scope/y/lib', 'x', 'x/node_modules/z'].map((path) => `node_modules/${path}/.git`)].map(
        (path) => join(folder, path),
      ),
    );
  });

  it('are found even if there are too many packages to search, which is reported', async () => {
    for (let number = 0; number < 9; number += 1) mkdirSync(join(folder, `node_modules/${number}`));
    const { runsLater, ...rest } = await new TreeIndex(tests, { ...TREE_LIMITS, folders: 6 }).find(
      [folder],
      undefined,
      true,
    );
    expect(runsLater).toEqual([join(folder, 'a/.envrc')]);
    expect(rest).toMatchObject({ isComplete: true, hasAllPackages: false });
  });

  it('include what a rule forbids to read or to change, in packages too', async () => {
    for (const path of ['a/kept', 'a/absent/.env', 'node_modules/x/denied', 'node_modules/x/kept'])
      mkdirSync(join(folder, path), { recursive: true });
    const { hidden, kept } = await new TreeIndex(tests).find([folder], undefined, true);
    expect(pathsOf(hidden)).toEqual(['a/b/c/.env', 'node_modules/x/denied'].map((path) => join(folder, path)));
    expect([...kept].sort()).toEqual(['a/kept', 'node_modules/x/kept'].map((path) => join(folder, path)));
  });

  it('are no longer searched for when the user interrupts', async () => {
    for (let number = 0; number < 3000; number += 1) mkdirSync(join(folder, `${number}`));
    const index = new TreeIndex({ ...tests, isHidden: (path) => path === slowly(path) });
    await expect(index.find([folder], AbortSignal.timeout(30))).rejects.toMatchObject({ name: 'AbortError' });
  });
});

/** As from a disk that is far away. */
function slowly(path: string): string {
  const begin = performance.now();
  while (performance.now() < begin + 0.05);
  return `${path}/`;
}
