import { mkdirSync, mkdtempSync, readlinkSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemCode } from '../../../lib/errors.js';
import { absolutePath, locate, realPath, withTargets } from '../../../lib/permission/paths/resolve-path.js';
import fc, { cases } from '../../support/properties.js';

let root: string;
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'hi-resolve-')));
  for (const path of ['a/b/c', 'd']) mkdirSync(join(root, path), { recursive: true });
  writeFileSync(join(root, 'a/file'), '');
  const links = {
    up: '..',
    far: 'a/b',
    over: 'far/../new',
    loop: 'loop',
    'a/here': '../d/none/../x',
    'd/back': '../a',
  };
  for (const [path, target] of Object.entries(links)) symlinkSync(target, join(root, path));
  symlinkSync(join(root, 'a/gone'), join(root, 'd/gone'));
});
afterAll(() => rmSync(root, { recursive: true }));

/** One step after the other, each of which is looked at alone. */
function stepwise(start: string, steps: readonly string[], links = 40): string | null {
  const [step, ...rest] = steps;
  if (step === undefined) return start;
  if (step === '' || step === '.') return stepwise(start, rest, links);
  if (step === '..') return stepwise(dirname(start), rest, links);
  const next = join(start, step);
  try {
    return stepwise(realpathSync.native(next), rest, links);
  } catch (failure) {
    if (systemCode(failure) !== 'ENOENT') return null;
  }
  let target: string;
  try {
    target = readlinkSync(next);
  } catch {
    return stepwise(next, rest, links);
  }
  if (links === 0) return null;
  return stepwise(isAbsolute(target) ? '/' : start, [...target.split('/'), ...rest], links - 1);
}

describe('a path', () => {
  it('leads where its steps lead one after the other', async () => {
    const names = ['a', 'b', 'c', 'd', 'file', 'up', 'far', 'over', 'loop', 'here', 'back', 'gone', 'none', '..a'];
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...names) },
      fc.constantFrom('..', '.', '', 'n'.repeat(300)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 9 }), async (steps) => {
        const path = `./${steps.join('/')}`;
        const expected = { absolute: `${root}/${path}`, real: stepwise(root, steps) };
        expect([path, await locate(path, root)]).toEqual([path, expected]);
      }),
      { numRuns: cases(300) },
    );
  });

  it('leads through as many links as a kernel follows, and no further', () => {
    const folder = join(root, 'chain');
    mkdirSync(folder);
    for (let number = 1; number <= 42; number += 1) symlinkSync(`${number - 1}`, join(folder, `${number}`));
    expect([realPath(join(folder, '40')), realPath(join(folder, '42'))]).toEqual([
      join(folder, '0'),
      join(folder, '42'),
    ]);
  });

  it('leads nowhere with a character that no name has, or below a file', async () => {
    for (const path of ['none/x\0y', 'x\0y/../a', 'a/file/x', 'a/file/x/../..', 'a/file/none/x'])
      expect([path, (await locate(path, root)).real]).toEqual([path, null]);
    expect((await locate('none/../a/file/../b', root)).real).toBe(join(root, 'a/b'));
  });

  it('is resolved in no time, however deep it lies and however long it is', () => {
    const deep = join(root, `deep${'/d'.repeat(800)}`);
    mkdirSync(deep, { recursive: true });
    const begin = performance.now();
    expect(realPath(`${deep}/none/../none`)).toBe(`${deep}/none`);
    expect(realPath(`${root}${'/none/x'.repeat(20_000)}${'/..'.repeat(39_999)}`)).toBe(join(root, 'none'));
    expect(performance.now() - begin).toBeLessThan(5000);
  });

  it.each([
    ['~', homedir()],
    ['~/x', `${homedir()}/x`],
    ['~x', '/folder/~x'],
    ['x~', '/folder/x~'],
    ['/x', '/x'],
    ['../x', '/folder/../x'],
  ])('%s is %s', (path, expected) => {
    expect(absolutePath(path, '/folder')).toBe(expected);
  });
});

describe('paths with the targets of their links', () => {
  it('name each place once', () => {
    const [far, plain] = [join(root, 'far'), join(root, 'd')];
    expect(withTargets([far, plain, join(root, 'a/b')])).toEqual([far, plain, join(root, 'a/b')]);
    expect(withTargets([far])).toEqual([far, join(root, 'a/b')]);
  });
});
