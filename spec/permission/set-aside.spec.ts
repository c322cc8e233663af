import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { madeListable, removeStandIns, setAside } from '../../lib/permission/sandbox/set-aside.js';
import { asNobody } from '../support/nobody.js';
import { itWhere } from '../support/where.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hi-aside-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const made = (name: string): string => {
  const path = join(folder, name);
  writeFileSync(path, 'evil\n');
  return path;
};

describe('a file that a command left for other programs to run', () => {
  it('gets the first free suffix', () => {
    const path = made('.envrc');
    made('.envrc.set-aside-1');
    expect(setAside([path])).toEqual([`${path}.set-aside-2`]);
    expect(existsSync(path)).toBe(false);
  });

  it('is renamed even if the command has taken every suffix', () => {
    const path = made('.envrc');
    for (let number = 1; number <= 120; number += 1) made(`.envrc.set-aside-${number}`);
    expect(setAside([path])).toEqual([expect.stringMatching(/\/set-aside-[-0-9a-f]{36}$/)]);
    expect(existsSync(path)).toBe(false);
  });

  it('is renamed even if its name leaves no room for a suffix, without affecting others', () => {
    const paths = [made(`${'n'.repeat(240)}.code-workspace`), made('.envrc')];
    expect(setAside(paths)).toEqual([
      expect.stringMatching(/\/set-aside-[-0-9a-f]{36}$/),
      join(folder, '.envrc.set-aside-1'),
    ]);
    expect(paths.filter((path) => existsSync(path))).toEqual([]);
  });

  it('is renamed in a folder that is itself renamed', () => {
    mkdirSync(join(folder, 'bare/sub'), { recursive: true });
    const paths = [join(folder, 'bare'), made('bare/sub/.envrc')];
    expect(setAside(paths)).toHaveLength(2);
    expect(readdirSync(join(folder, 'bare.set-aside-1/sub'))).toEqual(['.envrc.set-aside-1']);
    const two = [made('one'), made('two')];
    expect(setAside(two)).toEqual(two.map((path) => `${path}.set-aside-1`));
  });

  it('is renamed in a folder that the command made read-only', () => {
    mkdirSync(join(folder, 'closed'));
    const path = made('closed/.envrc');
    chmodSync(join(folder, 'closed'), 0o555);
    expect(setAside([path])).toEqual([`${path}.set-aside-1`]);
  });

  it.each([0o500, 0o400, 0o200, 0o100, 0])(
    'is renamed in a folder of the user that the command left with the mode %i',
    async (mode) => {
      const found = await asNobody(() => {
        const own = mkdtempSync(join(tmpdir(), 'hi-aside-'));
        const path = join(own, '.envrc');
        writeFileSync(path, 'evil\n');
        chmodSync(own, mode);
        const renamed = setAside([path]);
        const left = { mode: statSync(own).mode & 0o777, isThere: [path, ...renamed].map((one) => existsSync(one)) };
        chmodSync(own, 0o700);
        rmSync(own, { recursive: true });
        return { ...left, renamed: renamed.map((one) => one.slice(own.length)) };
      });
      expect(found).toEqual({ mode: mode | 0o300, isThere: [false, true], renamed: ['/.envrc.set-aside-1'] });
    },
  );

  itWhere(process.getuid?.() === 0, 'only root has files that belong to others')(
    'is left if the folder belongs to another user, and the others are renamed',
    async () => {
      const path = made('.envrc');
      chmodSync(folder, 0o755);
      const found = await asNobody(() => {
        const own = mkdtempSync(join(tmpdir(), 'hi-aside-'));
        writeFileSync(join(own, '.envrc'), 'evil\n');
        const renamed = setAside([path, join(own, '.envrc')]);
        rmSync(own, { recursive: true });
        return renamed.map((one) => one.slice(own.length));
      });
      expect([found, existsSync(path)]).toEqual([['/.envrc.set-aside-1'], true]);
    },
  );

  it('is removed if it is the still empty placeholder of a missing file', () => {
    const [empty, full, folderHere] = [join(folder, 'empty'), join(folder, 'full'), join(folder, 'folder')];
    writeFileSync(empty, '');
    writeFileSync(full, 'x');
    mkdirSync(folderHere);
    mkdirSync(join(folder, 'filled'));
    writeFileSync(join(folder, 'filled', 'x'), '');
    removeStandIns([empty, full, folderHere, join(folder, 'filled'), join(folder, 'gone')]);
    expect(readdirSync(folder).sort()).toEqual(['filled', 'full']);
  });

  it('is reached even if the command made its folder unlistable', () => {
    const closed = join(folder, 'closed');
    mkdirSync(closed);
    chmodSync(closed, 0o200);
    expect(madeListable(closed)).toBe(true);
    expect(statSync(closed).mode & 0o777).toBe(0o700);
    expect([madeListable(closed), madeListable(join(folder, 'gone'))]).toEqual([false, false]);
    chmodSync(closed, 0o540);
    expect([madeListable(closed), statSync(closed).mode & 0o777]).toEqual([false, 0o540]);
  });
});
