import { dirname } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { bubblewrapOptions } from '../../../lib/permission/sandbox/bubblewrap.js';
import { type Confinement, type Mount, mountPlan, NotConfinable } from '../../../lib/permission/sandbox/confinement.js';
import fc from '../../support/properties.js';

const NOTHING: Confinement = {
  ...{ root: '/home/me/project', folder: '/home/me/project', home: '/home/me', emptyFile: '/empty', temporary: '/tmp' },
  grant: { write: false, network: false, files: [], read: [] },
  system: [
    { kind: 'read', path: '/usr' },
    { kind: 'scratch', path: '/tmp' },
    { kind: 'scratch', path: '/home/me' },
  ],
  ...{ readable: [], work: ['/home/me/project'], own: [], free: [], hidden: [], kept: [], missing: [], replaced: [] },
};

/** What a command finds at a path after these mounts: the last one that covers it decides. */
function stateOf(path: string, mounts: readonly Mount[], isOpen: boolean): 'absent' | 'read' | 'write' | 'empty' {
  let state: 'absent' | 'read' | 'write' | 'empty' = isOpen ? 'write' : 'absent';
  for (const mount of mounts) {
    if (mount.kind === 'seal' || !isAt(mount.path, path)) continue;
    if (mount.kind === 'read') state = mount.from === '/empty' ? 'empty' : 'read';
    else if (mount.kind === 'write') state = 'write';
    else state = mount.path === path ? 'empty' : mount.kind === 'link' ? 'absent' : 'empty';
  }
  return state;
}

const isAt = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);

const RUNS = Number(process.env.HI_MOUNT_PLANS ?? 300);

/** Paths of a small tree, so that places often lie in one another. */
const anyPath = fc
  .array(fc.constantFrom('project', 'a', 'b', '.ssh', 'c'), { minLength: 1, maxLength: 4 })
  .map((steps) => `/home/me/${steps.join('/')}`);
const paths = fc.uniqueArray(anyPath, { maxLength: 4 });
const places = fc.array(fc.record({ path: anyPath, isFolder: fc.boolean() }), { maxLength: 4 });

const confinements = fc
  .record({
    ...{ write: fc.boolean(), network: fc.boolean(), files: paths, isOpen: fc.boolean() },
    ...{ read: paths, own: places, free: paths, hidden: places, kept: paths, missing: places, replaced: paths },
  })
  .map(
    ({ write, network, files, isOpen, read, own, free, hidden, kept, missing, replaced }): Confinement => ({
      ...NOTHING,
      grant: { write: write || isOpen, network, files: isOpen ? [] : files, read: [], ...(isOpen && { isOpen: true }) },
      ...(isOpen ? { system: [], home: null, work: [] } : {}),
      readable: isOpen ? [] : read.map((path) => ({ kind: 'read', path })),
      ...{ own, free, hidden, kept, missing, replaced: replaced.map((path) => ({ path, by: '/replacement' })) },
    }),
  );

const below = (path: string): readonly string[] => [path, `${path}/x`, `${path}/a/b`];

describe('the mounts of a confinement', () => {
  it('show nothing that is hidden, whatever is granted', () => {
    fc.assert(
      fc.property(confinements, (confinement) => {
        const [mounts, isOpen] = [mountPlan(confinement), confinement.grant.isOpen === true];
        for (const { path } of confinement.hidden)
          for (const at of below(path))
            expect([at, stateOf(at, mounts, isOpen)]).toEqual([at, expect.stringMatching(/absent|empty/)]);
        for (const { path } of confinement.own)
          for (const at of below(path).filter((one) => !confinement.free.some((folder) => isAt(folder, one))))
            expect([at, stateOf(at, mounts, isOpen)]).toEqual([at, expect.stringMatching(/absent|empty/)]);
      }),
      { numRuns: RUNS },
    );
  });

  it('let nothing be written that is kept, hidden or missing, and nothing of it be moved away', () => {
    fc.assert(
      fc.property(confinements, (confinement) => {
        const { kept, hidden, missing, own, grant, work } = confinement;
        const [mounts, isOpen] = [mountPlan(confinement), grant.isOpen === true];
        const all = [...kept, ...[...hidden, ...missing, ...own].map((place) => place.path)];
        // Nothing can be renamed in a folder that cannot be changed.
        const isCovered = (path: string) => all.some((other) => other !== path && isAt(other, path));
        const writable = isOpen ? ['/'] : grant.write ? work : [];
        for (const path of all) {
          for (const at of below(path)) expect([at, stateOf(at, mounts, isOpen)]).not.toEqual([at, 'write']);
          const top = writable.find((folder) => isAt(folder, path) && folder !== path);
          if (top === undefined || isCovered(path)) continue;
          for (let above = dirname(path); above !== top && above !== '/'; above = dirname(above))
            expect([above, mounts.some((mount) => mount.path === above)]).toEqual([above, true]);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('write only where a grant says so', () => {
    fc.assert(
      fc.property(confinements, anyPath, (confinement, path) => {
        const { grant, work } = confinement;
        if (stateOf(path, mountPlan(confinement), grant.isOpen === true) !== 'write') return;
        const granted = [...grant.files, ...(grant.write ? work : []), ...(grant.isOpen ? ['/'] : [])];
        expect(granted.some((folder) => isAt(folder, path))).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it('show the home folder empty but for what is granted in it', () => {
    const mounts = mountPlan({ ...NOTHING, readable: [{ kind: 'read', path: '/home/me/.cargo/registry' }] });
    const seen = ['project/x', '.cargo/registry/x', '.cargo/credentials.toml', '.ssh/id_rsa', 'other/.env'];
    expect(seen.map((path) => stateOf(`/home/me/${path}`, mounts, false))).toEqual([
      'read',
      'read',
      'empty',
      'empty',
      'empty',
    ]);
    expect(mounts.slice(-2)).toEqual([
      { kind: 'seal', path: '/home/me' },
      { kind: 'seal', path: '/' },
    ]);
  });
});

describe('the sandbox of bubblewrap', () => {
  const options = (more: Partial<Confinement>): string => bubblewrapOptions({ ...NOTHING, ...more }).join(' ');

  it('mounts in the order of the plan', () => {
    const text = options({
      hidden: [{ path: '/home/me/project/.env', isFolder: false }],
      missing: [{ path: '/home/me/project/.git', isFolder: true }],
    });
    expect(text).toContain('--unshare-net --dev /dev --proc /proc');
    expect(text).toMatch(
      / --ro-bind \/usr \/usr --tmpfs \/tmp --tmpfs \/home\/me --ro-bind \/home\/me\/project \/home\/me\/project --ro-bind \/empty \/home\/me\/project\/\.env --tmpfs \/home\/me\/project\/\.git --remount-ro \/home\/me\/project\/\.git --remount-ro \/home\/me --remount-ro \/ --setenv TMPDIR \/tmp --chdir \/home\/me\/project$/,
    );
    const grant = { ...NOTHING.grant, write: true, network: true };
    expect(options({ grant })).toContain('--bind /home/me/project /home/me/project');
    expect(options({ grant })).not.toContain('--unshare-net');
    const open = options({
      grant: { ...grant, isOpen: true },
      system: [],
      home: null,
      work: [],
      own: [{ path: '/home/me/.config/hi', isFolder: true }],
    });
    expect(open).toContain('--bind / / --ro-bind-try /sys /sys --dev /dev --proc /proc');
    expect(open).toMatch(
      /--bind \/home \/home --bind \/home\/me \/home\/me --bind \/home\/me\/\.config \/home\/me\/\.config --tmpfs \/home\/me\/\.config\/hi --remount-ro \/home\/me\/\.config\/hi --chdir \/home\/me\/project$/,
    );
  });

  it('refuses more than it can hide', () => {
    const hidden = Array.from({ length: 3100 }, (_, number) => ({
      path: `/home/me/project/${number}`,
      isFolder: false,
    }));
    expect(() => bubblewrapOptions({ ...NOTHING, hidden })).toThrow(NotConfinable);
    expect(bubblewrapOptions({ ...NOTHING, hidden: hidden.slice(0, 2900) }).length).toBeGreaterThan(2900 * 3);
  });
});
