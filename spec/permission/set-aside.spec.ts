import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { madeListable, removeStandIns, setAside } from '../../lib/permission/sandbox/set-aside.js';

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

describe('what a command left for other programs to run', () => {
  it('gets the first ending that is free', () => {
    const path = made('.envrc');
    made('.envrc.set-aside-1');
    expect(setAside([path])).toEqual([`${path}.set-aside-2`]);
    expect(existsSync(path)).toBe(false);
  });

  it('is renamed where the command has taken every ending', () => {
    const path = made('.envrc');
    for (let number = 1; number <= 120; number += 1) made(`.envrc.set-aside-${number}`);
    expect(setAside([path])).toEqual([expect.stringMatching(/\/set-aside-[-0-9a-f]{36}$/)]);
    expect(existsSync(path)).toBe(false);
  });

  it('is renamed where its name leaves no room for an ending, and keeps none of the others from it', () => {
    const paths = [made(`${'n'.repeat(240)}.code-workspace`), made('.envrc')];
    expect(setAside(paths)).toEqual([
      expect.stringMatching(/\/set-aside-[-0-9a-f]{36}$/),
      join(folder, '.envrc.set-aside-1'),
    ]);
    expect(paths.filter((path) => existsSync(path))).toEqual([]);
  });

  it('is renamed in a folder whose own name changes', () => {
    mkdirSync(join(folder, 'bare/sub'), { recursive: true });
    const paths = [join(folder, 'bare'), made('bare/sub/.envrc')];
    expect(setAside(paths)).toHaveLength(2);
    expect(readdirSync(join(folder, 'bare.set-aside-1/sub'))).toEqual(['.envrc.set-aside-1']);
  });

  it('is renamed in a folder that the command took the right to change from', () => {
    mkdirSync(join(folder, 'closed'));
    const path = made('closed/.envrc');
    chmodSync(join(folder, 'closed'), 0o555);
    expect(setAside([path])).toEqual([`${path}.set-aside-1`]);
  });

  it('has stood in for a missing file: it is taken away where it is still empty', () => {
    const [empty, full, folderHere] = [join(folder, 'empty'), join(folder, 'full'), join(folder, 'folder')];
    writeFileSync(empty, '');
    writeFileSync(full, 'x');
    mkdirSync(folderHere);
    mkdirSync(join(folder, 'filled'));
    writeFileSync(join(folder, 'filled', 'x'), '');
    removeStandIns([empty, full, folderHere, join(folder, 'filled'), join(folder, 'gone')]);
    expect(readdirSync(folder).sort()).toEqual(['filled', 'full']);
  });

  it('is reached again where the command took the right to list it away', () => {
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
